/** A model server that refuses every request with a certain word or picture, in each dialect and in many words. */
import { vi } from 'vitest';
import type { ModelDialect } from '../../../shared/settings/dialects.ts';
import { anthropicFrames, responseFrames } from '../../far-ends/native-events.ts';
import { framesOf, streamOf } from '../../far-ends/reply-script.ts';
import { call } from '../api.ts';
import { configure } from '../settings.ts';
import { connectBridge } from '../tunnel/scripted-bridge.ts';

/** Refused wherever it stands. */
const POISON = 'quetzal';

/** What servers say to a request that they do not take: status, and the error or the whole body. */
export const KINDS: readonly (readonly [number, unknown])[] = [
  [400, { error: { message: 'Bad Request' } }],
  [400, { error: { message: '' } }],
  [400, ''],
  [400, { error: 'invalid' }],
  [400, { detail: 'There was an error parsing the body' }],
  [400, { object: 'error', message: 'Conversation roles must alternate', code: 400 }],
  [400, { error: { message: 'Invalid content in tool result', type: 'invalid_request_error' } }],
  [
    400,
    { error: { message: 'The prompt was filtered.', code: 'content_filter', param: 'prompt' } },
  ],
  [400, { error: { message: 'Your request was rejected by our safety system', code: null } }],
  [400, { error: { message: 'Input may be inappropriate', code: 'data_inspection_failed' } }],
  [400, { contentFilter: [{ level: 1 }], error: { code: '1301', message: 'sensitive content' } }],
  [400, { error: { message: 'messages.1.content.1.image.source: too many pixels' } }],
  [400, { error: { message: 'Could not process image' } }],
  [400, { error: { message: "Invalid 'input[2].name': string too long", param: 'input[2].name' } }],
  [400, { error: { message: "Unknown parameter: 'logprobs'." } }],
  [400, { error: { message: 'Value looks like object, but can’t find closing brace' } }],
  [400, { error: { message: 'Function call arguments are not valid JSON' } }],
  [400, { error: { message: 'lone leading surrogate in hex escape' } }],
  [400, [{ error: { code: 400, message: 'Request contains an invalid argument.' } }]],
  [400, { error: { message: 'Provider returned error', metadata: { raw: '{"detail":"no"}' } } }],
  [400, { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } }],
  [400, { error: { message: 'Too long', code: 'context_length_exceeded' } }],
  [400, { error: { message: 'Input exceeds the limit of tokens' } }],
  [413, 'Request Entity Too Large'],
  [413, { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }],
  [422, { detail: [{ type: 'string_type', loc: ['body', 'messages', 1], msg: 'not a string' }] }],
  [422, { error: { message: 'Template error: unexpected message' } }],
  [422, ''],
  [403, { error: { message: 'Refused', code: 'content_policy_violation' } }],
  [403, { error: { message: 'Blocked by moderation' } }],
];

/** Where the part stands: in the message, beside it, in what a tool returned, in a call, in an older answer or message. */
export const PLACES = ['words', 'picture', 'result', 'call', 'answer', 'older'] as const;
const SPEAKERS: readonly ModelDialect[] = ['chat', 'anthropic', 'responses'];

export interface RefusalCase {
  readonly kind: (typeof KINDS)[number];
  readonly place: (typeof PLACES)[number];
  readonly dialect: ModelDialect;
}

/** The case with this number, all different up to the product of the three. */
export function refusalCase(number: number): RefusalCase {
  const [kind, place, dialect] = [
    KINDS[number % KINDS.length],
    PLACES[Math.floor(number / KINDS.length) % PLACES.length],
    SPEAKERS[Math.floor(number / (KINDS.length * PLACES.length)) % SPEAKERS.length],
  ];
  if (!kind || !place || !dialect) throw new Error('there is no such case');
  return { kind, place, dialect };
}

export const REFUSAL_CASES = KINDS.length * PLACES.length * SPEAKERS.length;

/** What became of the message with the part, of two later ones, and how many requests the last one took. */
export async function tryRefusal({ kind: [status, body], place, dialect }: RefusalCase) {
  const model = `m-${crypto.randomUUID()}`;
  const entry = { id: model, dialect, baseUrl: 'http://model.test/v1' };
  configure({ MODELS: [{ ...entry, maxOutputTokens: 1_000 }] });
  let isStrict = !['answer', 'older'].includes(place);
  let requests = 0;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (_, init) => {
    const text = String(init?.body);
    requests++;
    if (
      isStrict &&
      (place === 'picture' ? /image_url|input_image|"image"/ : /quetzal/).test(text)
    ) {
      return typeof body === 'string'
        ? new Response(body, { status })
        : Response.json(body, { status });
    }
    const saidNow = newestOf(JSON.parse(text));
    if (saidNow.includes('CALL')) return streamOf(callIn(dialect, place === 'call'));
    return streamOf(saying(dialect, saidNow.includes('SAY') ? `It is a ${POISON}.` : 'fine'));
  });
  const bridge = place === 'result' ? await connectBridge() : null;
  const bridged = bridge && { bridgeId: bridge.bridgeId };
  const send = async (content: unknown, conversationId?: string) => {
    const asked = call('chat/completions', {
      body: {
        model,
        messages: [{ role: 'user', content }],
        conversationId,
        ...(!conversationId && bridged),
      },
    });
    if (bridge && content === FIRST[place])
      void bridge.nextCall().then(({ callId }) => bridge.succeed(callId, `a ${POISON}`));
    const response = await asked;
    if (!response.ok) throw new Error(await response.text());
    const { status: became, documents } = (await response.json()) as {
      status: string;
      documents: { type: string; content: string; metadata: Record<string, unknown> }[];
    };
    const id = response.headers.get('drawbridge-conversation-id') ?? '';
    return { id, became, documents };
  };
  const first = await send(FIRST[place]);
  isStrict = true;
  const second = await send('hello', first.id);
  requests = 0;
  const third = await send('hello again', first.id);
  return { first, second, third, requests };
}

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const FIRST: Readonly<Record<RefusalCase['place'], unknown>> = {
  words: `Tell me of the ${POISON}`,
  picture: [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: PIXEL } },
  ],
  result: 'CALL it',
  call: 'CALL it',
  answer: 'SAY it',
  older: `An old ${POISON}`,
};

/** The words of the newest message of a person, or '' behind a result. */
function newestOf(body: {
  messages?: { role: string; content: unknown }[];
  input?: { type?: string; role?: string; content?: unknown }[];
}): string {
  const last = (body.messages ?? body.input)?.at(-1);
  const text = JSON.stringify(last?.content ?? '');
  return last?.role === 'user' && !text.includes('tool_result') ? text : '';
}

function saying(dialect: ModelDialect, text: string): string[] {
  if (dialect === 'anthropic') return anthropicFrames([{ type: 'text', text }]);
  if (dialect === 'responses') return responseFrames([{ type: 'message', text }]);
  return framesOf({ text });
}

function callIn(dialect: ModelDialect, isPoison: boolean): string[] {
  const input = isPoison ? { [POISON]: 1 } : { relative_workspace_path: '.' };
  const name = isPoison ? 'no_such_tool' : 'list_dir';
  if (dialect === 'anthropic')
    return anthropicFrames([{ type: 'tool_use', id: 'toolu_1', name, input }], 'tool_use');
  if (dialect === 'responses') {
    const args = JSON.stringify(input);
    return responseFrames([{ type: 'function_call', call_id: 'call_1', name, arguments: args }]);
  }
  return framesOf({ calls: [{ name, arguments: input }] });
}
