/** What there is for the caller, where bridges connect, and the service itself. */
import * as z from 'zod';
import { Health } from '../../shared/answers.ts';
import { BridgeId } from '../../shared/ids.ts';
import { BridgeList, Me, ModelList, ToolList } from '../../shared/listings.ts';
import { jsonAnswer, type Operation } from './operation.ts';

/** As much of the document's own form as a reader must know to begin. */
export const OpenApi = z.looseObject({
  openapi: z.string(),
  paths: z.record(z.string(), z.unknown()),
});

export const ACCOUNT_OPERATIONS: readonly Operation[] = [
  listing('getMe', '/api/v1/me', 'Who the caller is', Me),
  listing('listModels', '/api/v1/models', 'Models to answer with', ModelList),
  listing('listTools', '/api/v1/tools', 'Tools of the agent', ToolList),
  listing('listBridges', '/api/v1/bridges', 'Bridges, the latest first', BridgeList),
  {
    id: 'connectBridge',
    method: 'get',
    path: '/api/v1/bridges/{id}/connect',
    tag: 'Bridges',
    summary: 'Connect a bridge',
    description: 'A WebSocket (`Upgrade: websocket`), for a token of the scope `bridge` only.',
    access: 'bridge',
    params: { id: { description: 'The bridge that the token names.', zod: BridgeId } },
    answers: [{ status: 101, description: 'The tunnel’s frames follow.' }],
    errors: ['INVALID_REQUEST'],
  },
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Service',
    summary: 'Whether the service runs',
    access: 'open',
    answers: [jsonAnswer(200, 'It does.', Health)],
  },
  {
    id: 'getOpenApi',
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This document',
    access: 'open',
    answers: [jsonAnswer(200, 'OpenAPI 3.1.', OpenApi)],
  },
];

function listing(id: string, path: string, summary: string, schema: z.ZodType): Operation {
  return {
    ...{ id, path, summary, method: 'get', tag: 'Account', access: 'user' },
    answers: [jsonAnswer(200, 'All of it.', schema)],
  };
}
