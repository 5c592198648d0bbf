/** `health`: whether the service runs. */
import { Health } from '../../shared/answers.ts';
import { type Endpoint, jsonAnswer } from '../endpoint.ts';
import { secretKey } from '../people/secret.ts';

/** The service itself; `/openapi.json` is made in openapi/. */
export const SERVICE: readonly Endpoint[] = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Whether the service runs',
    access: 'open',
    answers: [jsonAnswer(200, 'It does.', Health)],
    handle: async (c) => {
      await secretKey(c.env.AUTH_SECRET); // Without it nothing else works: told here, before anybody needs a token.
      return c.json({ status: 'ok' });
    },
  },
];
