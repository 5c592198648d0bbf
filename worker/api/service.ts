/** `health`: tells whether the service runs. */
import { Health } from '../../shared/answers.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { secretKey } from '../people/secret.ts';

/** The endpoint of this file. `/openapi.json` is in openapi/. */
export const SERVICE: readonly Endpoint[] = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Check whether the service runs',
    access: 'open',
    answers: [jsonAnswer(200, 'The service runs.', Health)],
    handle: async (c) => {
      await secretKey(c.env.AUTH_SECRET); // Throws NOT_CONFIGURED: nothing else works without AUTH_SECRET.
      return c.json({ status: 'ok' });
    },
  },
];
