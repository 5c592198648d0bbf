/** Schemas of what `/v1/responses` sends, for the API's description. OpenAI's own has all the fields. */
import * as z from 'zod';
import { OpenAiFailure } from '../schemas.ts';

export const ResponseObject = z.looseObject({
  id: z.string().regex(/^resp_/),
  object: z.literal('response'),
  /** Seconds since 1970. */
  created_at: z.int(),
  status: z.enum(['in_progress', 'completed', 'incomplete', 'failed']),
  model: z.string(),
  previous_response_id: z.string().nullable(),
  output: z.array(
    z.looseObject({ id: z.string(), type: z.enum(['message', 'reasoning', 'function_call']) }),
  ),
  store: z.boolean(),
});

/** The body with status 200. A late answer can report its failure only in the body. */
export const ResponseAnswer = z.union([ResponseObject, OpenAiFailure]);

export const ResponseEvent = z.looseObject({
  type: z.string().regex(/^response\./),
  /** Counted from 0. */
  sequence_number: z.int().nonnegative(),
});
