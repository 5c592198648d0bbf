/** Describes how an operation can be refused: the errors that follow from its kind, and its own errors. */

import { DOORS } from '../../../doors/index.ts';
import { DrawbridgeError, type ErrorCode, statusOf, WireError } from '../../../shared/errors.ts';
import type { Operation } from '../../endpoint.ts';
import type { SchemaBook } from './schemas.ts';

/** The error responses by status, each with its codes. */
export function describeRefusals(
  operation: Operation,
  schemas: SchemaBook,
): Record<string, object> {
  const door = DOORS.find(({ endpoints }) => endpoints.some(({ id }) => id === operation.id));
  const { schema: shape = WireError, of: refusalOf } = door?.refusals ?? {};
  const schema = schemas.refTo(shape);
  const own = [...codesOf(operation)].map((code) => {
    if (!refusalOf) return { status: statusOf(code), code };
    const { status, code: theirs } = refusalOf(new DrawbridgeError(code, ''));
    return { status, code: theirs };
  });
  const refusals = Map.groupBy([...own, ...(operation.refusals ?? [])], ({ status }) => status);
  const responses: Record<string, object> = {};
  for (const [status, group] of refusals) {
    const headers = HEADERS[status];
    responses[status] = {
      description: group.map(({ code }) => `\`${code}\``).join(', '),
      ...(headers && { headers }),
      content: { 'application/json': { schema } },
    };
  }
  return responses;
}

function codesOf({
  access,
  rate,
  path,
  params,
  body,
  query,
  headers,
  errors = [],
}: Operation): Set<ErrorCode> {
  const codes = new Set<ErrorCode>(['INTERNAL', 'DAMAGED', 'STORAGE_FULL', ...errors]);
  const add = (...more: readonly ErrorCode[]) => more.forEach((code) => void codes.add(code));
  if (access === 'metrics') add('UNAUTHENTICATED', 'NOT_FOUND');
  else if (access !== 'open') {
    add('UNAUTHENTICATED', 'FORBIDDEN', 'NOT_CONFIGURED', 'UNAVAILABLE');
  }
  if (access === 'user' || access === 'stream' || access === 'bridge') {
    add('ACCOUNT_SUSPENDED', 'ACCOUNT_DELETED');
  }
  if (access === 'user' || access === 'stream' || access === 'app') add('RATE_LIMITED');
  if (rate === 'run') add('QUOTA_EXCEEDED');
  // A bridge's token names the only bridge that its path can.
  if (params && access !== 'bridge') add('NOT_FOUND');
  if (params && OF_CONVERSATION.test(path)) add('CONTENT_DELETED');
  if (query || headers || body) add('INVALID_REQUEST');
  if (body) add('INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT');
  return codes;
}

const OF_CONVERSATION = /\/(conversations|completions|agents)\/\{/;

const HEADERS: Readonly<Record<number, object>> = {
  401: {
    'WWW-Authenticate': { description: 'Bearer.', schema: { type: 'string', const: 'Bearer' } },
  },
  429: retryAfter('Whole seconds until the next request is allowed.'),
  503: retryAfter('Whole seconds to wait before the next attempt.'),
};

function retryAfter(description: string): object {
  return { 'Retry-After': { description, schema: { type: 'integer', minimum: 1 } } };
}
