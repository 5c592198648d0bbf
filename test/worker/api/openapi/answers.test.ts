import { expect, it } from 'vitest';
import * as z from 'zod';
import { ENDPOINTS } from '../../../../worker/api/openapi/endpoints.ts';

const ANSWERS = ENDPOINTS.flatMap(({ id, answers }) =>
  answers
    .flatMap(({ content = [] }) => content)
    .flatMap((content): [string, z.ZodType][] => {
      if (content.type === 'application/json') return [[id, content.schema]];
      return content.type === 'text/event-stream' ? [[`${id} (events)`, content.events]] : [];
    }),
);

it.each(ANSWERS)(
  '%s answers with what its schema takes: no transforms, no defaults',
  (_, schema) => {
    expect(jsonSchema(schema, 'output')).toEqual(jsonSchema(schema, 'input'));
  },
);

/** Zod closes objects on their way out; the document leaves them open for fields of later versions. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): unknown {
  return z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
}
