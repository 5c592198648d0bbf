/** A small API with a description, as it should be or with one fault, for the fuzzer to find. */
import type { Description, Schema } from '../../bench/fuzz/description.ts';
import type { FuzzAnswer } from '../../bench/fuzz/judge.ts';
import type { FuzzRequest } from '../../bench/fuzz/requests.ts';
import { type FuzzReport, fuzz } from '../../bench/fuzz/run.ts';

export type Sender = 'sender' | 'victim';

/** What answers instead of the API; undefined leaves the request to it. It knows whose response the path names. */
export type Fault = (
  request: FuzzRequest,
  sender: Sender,
  owner: Sender | undefined,
) => FuzzAnswer | undefined;

const REFUSAL: Schema = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
    },
  },
  required: ['error'],
};

const DESCRIPTION: Description = {
  openapi: '3.1.1',
  paths: {
    '/api/v1/notes/{id}': {
      get: {
        operationId: 'readNote',
        tags: [],
        parameters: [
          { name: 'id', in: 'path', schema: { $ref: '#/components/schemas/ResponseId' } },
        ],
        responses: {
          200: {
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } },
          },
          404: {},
        },
      },
    },
    '/api/v1/notes': {
      post: {
        operationId: 'writeNote',
        tags: [],
        requestBody: {
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/Note' },
              example: { text: 'go' },
            },
          },
        },
        responses: { 200: {}, 400: {} },
      },
    },
  },
  components: {
    schemas: {
      ResponseId: { type: 'string', pattern: '^chat_' },
      Note: {
        type: 'object',
        properties: { text: { type: 'string', maxLength: 20 } },
        required: ['text'],
      },
      WireError: REFUSAL,
      OpenAiFailure: REFUSAL,
    },
  },
};

export const NOT_FOUND = json(404, { error: { code: 'NOT_FOUND', message: 'None.' } });
const INVALID = json(400, { error: { code: 'INVALID_REQUEST', message: 'Something else.' } });

export function json(status: number, body: unknown): FuzzAnswer {
  return { status, contentType: 'application/json', text: JSON.stringify(body) };
}

/** Fuzzes the API with its fault. `sent` gets every request in order. */
export async function fuzzWith(
  fault: Fault,
  { seed = 1, sent = [] }: { seed?: number; sent?: FuzzRequest[] } = {},
): Promise<FuzzReport> {
  const owners = new Map<string, Sender>();
  let uuids = 0;
  return await fuzz({
    seed,
    count: 300,
    newUuid: () => `00000000-0000-4000-8000-${String(++uuids).padStart(8, '0')}0000`,
    send: async (sender, request) => {
      sent.push(request);
      const id = /chat_[0-9a-f-]+/.exec(request.path)?.[0] ?? '';
      const owner = owners.get(id);
      return fault(request, sender, owner) ?? answer(request, sender, owner, owners);
    },
  });
}

function answer(
  { method, path, body }: FuzzRequest,
  sender: Sender,
  owner: Sender | undefined,
  owners: Map<string, Sender>,
): FuzzAnswer {
  const [address = ''] = path.split('?');
  switch (`${method} ${address.replace(/(notes|conversations)\/.*/, '$1/{id}')}`) {
    case 'GET /openapi.json':
      return json(200, DESCRIPTION);
    case 'POST /api/v1/chat/completions': {
      const id = `chat_00000000-0000-4000-8000-${String(owners.size).padStart(12, '0')}`;
      owners.set(id, sender);
      return json(200, { id, conversationId: `conv_${owners.size}` });
    }
    case 'GET /api/v1/conversations':
    case 'GET /api/v1/conversations/{id}':
      return json(200, []);
    case 'GET /api/v1/notes/{id}':
      return owner === sender ? json(200, { text: 'go' }) : NOT_FOUND;
    case 'POST /api/v1/notes':
      return isNote(body) ? json(200, { text: 'go' }) : INVALID;
    default:
      return NOT_FOUND;
  }
}

function isNote(body: FuzzRequest['body']): boolean {
  try {
    const { text } = Object(JSON.parse(String(body)));
    return typeof text === 'string' && text.length <= 20;
  } catch {
    return false;
  }
}
