/** Describes how an operation can be refused: the errors that follow from its kind, and its own errors. */
import { DrawbridgeError, type ErrorCode, statusOf, WireError } from '../../../shared/errors.ts';
import type { EndpointRefusal, Operation } from '../../endpoint.ts';
import { failureOfRequest } from '../../openai/errors.ts';
import { OpenAiFailure } from '../../openai/schemas.ts';
import type { SchemaBook } from './schemas.ts';

/** The error responses by status, each with its codes. */
export function describeRefusals(
  operation: Operation,
  schemas: SchemaBook,
): Record<string, object> {
  const isOpenAi = operation.path.startsWith('/v1/');
  const schema = schemas.refTo(isOpenAi ? OpenAiFailure : WireError);
  const own = [...codesOf(operation)].map(isOpenAi ? toOpenAiRefusal : toRefusal);
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

function toRefusal(code: ErrorCode): EndpointRefusal {
  return { status: statusOf(code), code };
}

function toOpenAiRefusal(code: ErrorCode): EndpointRefusal {
  const failure = failureOfRequest(new DrawbridgeError(code, ''));
  return { status: failure.status, code: failure.code };
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
