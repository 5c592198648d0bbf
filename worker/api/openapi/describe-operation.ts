/** Describes one operation as an OpenAPI operation object. */
import type * as z from 'zod';
import type {
  AnswerContent,
  EndpointAccess,
  EndpointAnswer,
  Operation,
  Parameter,
} from '../../endpoint.ts';
import { describeRefusals } from './refusals.ts';
import type { SchemaBook } from './schemas.ts';

export function describeOperation(operation: Operation, schemas: SchemaBook): object {
  const { id, tag, summary, description, access, body, answers } = operation;
  const parameters = describeParameters(operation, schemas);
  const isOthers = access === 'user' && operation.path.startsWith('/v1/');
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(isOthers ? OTHERS_SECURITY : SECURITY[access]),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: schemas.refTo(body.schema), example: body.example },
        },
      },
    }),
    responses: {
      ...Object.fromEntries(answers.map((answer) => describeAnswer(answer, schemas))),
      ...describeRefusals(operation, schemas),
    },
  };
}

/** An operation without `security` needs a user's token: that is the document's default. */
const SECURITY: Readonly<Record<EndpointAccess, object>> = {
  open: { security: [] },
  user: {},
  stream: { security: [{ bearerAuth: [] }, { ticket: [] }] },
  bridge: { security: [{ bearerAuth: ['bridge'] }] },
  operator: { security: [{ bearerAuth: ['operator'] }] },
  app: { security: [{ appSecret: [] }] },
  metrics: { security: [{ metricsToken: [] }] },
};

/** Of the shapes of others. */
const OTHERS_SECURITY = { security: [{ bearerAuth: [] }, { basicAuth: [] }] };

type ParameterPlace = 'path' | 'query' | 'header';

function describeParameters(
  { params = {}, query, headers = [] }: Operation,
  schemas: SchemaBook,
): object[] {
  const describe = (
    place: ParameterPlace,
    name: string,
    { description, schema }: Parameter,
    zod: z.core.$ZodType,
  ) => ({
    name,
    in: place,
    ...(place === 'path' && { required: true }),
    description,
    schema: schema ?? schemas.schemaOf(zod),
  });
  return [
    ...Object.entries(params).map(([name, param]) => describe('path', name, param, param.zod)),
    ...Object.entries(query?.schema.shape ?? {}).map(([name, zod]) =>
      describe('query', name, query?.described[name] ?? { description: name }, zod),
    ),
    ...headers.map((header) => describe('header', header.name, header, header.zod)),
  ];
}

function describeAnswer(answer: EndpointAnswer, schemas: SchemaBook): [status: string, object] {
  const { status, description, headers, content } = answer;
  const response = {
    description,
    ...(headers && { headers: describeHeaders(headers) }),
    ...(content && {
      content: Object.fromEntries(
        content.map((form) => [form.type, describeContent(form, schemas)]),
      ),
    }),
  };
  return [String(status), response];
}

function describeHeaders(headers: NonNullable<EndpointAnswer['headers']>): object {
  const schema = { type: 'string' };
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema }]),
  );
}

/** To OpenAPI 3.1 a stream is text. JSON Schema's `contentSchema` describes the text's content: the events in order. */
function describeContent(content: AnswerContent, schemas: SchemaBook): object {
  switch (content.type) {
    case 'application/json':
      return { schema: schemas.refTo(content.schema) };
    case 'application/x-ndjson': {
      const contentSchema = schemas.refTo(content.schema);
      return { schema: { type: 'string', contentMediaType: content.type, contentSchema } };
    }
    case 'text/markdown':
    case 'text/plain':
      return { schema: { type: 'string' } };
    case 'text/event-stream': {
      const { events, examples } = content;
      const contentSchema = { type: 'array', items: schemas.refTo(events) };
      const schema = { type: 'string', contentMediaType: content.type, contentSchema };
      return { schema, examples };
    }
  }
}
