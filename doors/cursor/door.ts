import { requireRight } from '../../worker/door.ts';
import type { Door } from '../door.ts';
import { OPENAI_REFUSALS } from '../openai/errors.ts';
import { CURSOR } from './agents.ts';
import { chatCoreOf } from './chat.ts';
import { CALLS, failedCall, serveCall } from './connect/service.ts';
import * as schemas from './schemas.ts';

/** Cursor's Cloud Agents API v1, and in `connect/` the interface of its editor. */
export const cursor: Door = {
  endpoints: CURSOR,
  schemas,
  calls: {
    paths: [...CALLS.keys()],
    serve: async (c) => {
      requireRight(c, 'chat');
      return await serveCall(c, chatCoreOf(c));
    },
  },
  refusal: (request, error, headers) => failedCall(request, error, headers) ?? undefined,
  // The paths of the agents are below /v1, where errors have OpenAI's shape.
  refusals: OPENAI_REFUSALS,
};
