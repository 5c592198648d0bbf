/** Makes the OpenAPI document from the operations and from the schemas that validate requests. */

import { named } from '../../../shared/named.ts';
import { type JsonSchema, type Operation, TAGS } from '../../endpoint.ts';
import { describeOperation } from './describe-operation.ts';
import { FIELDS } from './fields.ts';
import { TYPED } from './named.ts';
import { SchemaBook } from './schemas.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: { readonly version: string };
  /** Operations by path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** Makes the whole document. That takes some milliseconds, so it is made only on request. */
export function describeApi(operations: readonly Operation[]): OpenApiDocument {
  const schemas = new SchemaBook(named);
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const methods = paths[operation.path] ?? {};
    methods[operation.method] = describeOperation(operation, schemas);
    paths[operation.path] = methods;
  }
  const components = { securitySchemes: SECURITY_SCHEMES, schemas: describeSchemas(schemas) };
  const document = {
    openapi: '3.1.1' as const,
    info: INFO,
    servers: [{ url: '/', description: 'Where this document came from.' }],
    security: [{ bearerAuth: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components,
  };
  return document;
}

function describeSchemas(schemas: SchemaBook): Record<string, JsonSchema> {
  const { [TYPED]: Document = {}, ...components } = schemas.components();
  for (const [name, fields] of Object.entries(FIELDS)) {
    for (const [field, description] of Object.entries(fields)) {
      const property = components[name]?.properties?.[field];
      if (typeof property === 'object') property.description = description;
    }
  }
  return { ...components, Document };
}

const INFO = {
  title: 'Drawbridge',
  /** The same as in package.json. */
  version: '0.2.0',
  description:
    'A coding-agent chat API: conversations on the edge, tools on the developer’s machine. docs/protocol.md says what schemas cannot.',
  license: { name: 'MIT', identifier: 'MIT' },
} as const;

const SECURITY_SCHEMES = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'HS256; `sub` is the account, `scope` is `user`, `bridge` or `operator`. Of an app: `iss` is the key, `sub` its user.',
  },
  basicAuth: {
    type: 'http',
    scheme: 'basic',
    description: 'The token is the user name. Not from web pages.',
  },
  metricsToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of the operator’s METRICS_TOKEN.',
  },
  appSecret: {
    type: 'http',
    scheme: 'bearer',
    description: 'The secret of an app’s key.',
  },
  ticket: {
    type: 'apiKey',
    in: 'query',
    name: 'ticket',
    description: 'From `POST /api/v1/tickets`. It opens one stream.',
  },
} as const;
