/** The demo model as an upstream. It needs no key, so that a new user can see the whole system running. */
import { type Move, nextMove, type Talk } from './intents.ts';

/** The name under which the demo model answers. */
export const DEMO_MODEL = 'demo';

/** Characters of a streamed piece: about as many as upstreams send. */
const PIECE_CHARS = 12;
/** The usual estimate. */
const CHARS_PER_TOKEN = 4;

/** A message of Chat Completions. Other models may have written its fields. */
export interface DemoMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: string;
}

export interface DemoRequest {
  readonly messages: readonly DemoMessage[];
  /** Canonical names of the tools on offer; no other is called. */
  readonly tools: readonly string[];
}

/** The same request gets the same bytes, so that a turn repeated after a crash continues. */
export function demoReply({ messages, tools }: DemoRequest): Response {
  const events = eventsOf(nextMove(readTalk(messages), new Set(tools)), messages);
  const encoder = new TextEncoder();
  // Writes only as fast as it is read, so that a reader that leaves early costs nothing.
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = events.next();
    if (done) controller.close();
    else controller.enqueue(encoder.encode(`data: ${value}\n\n`));
  };
  const headers = { 'content-type': 'text/event-stream' };
  return new Response(new ReadableStream({ pull }), { headers });
}

function readTalk(messages: readonly DemoMessage[]): Talk {
  const asked = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !textOf(content).startsWith('<system_reminder>'),
  );
  const since = messages.slice(asked + 1);
  const results = new Map(since.map((message) => [message.tool_call_id, textOf(message.content)]));
  const text = textOf(messages[asked]?.content);
  const lost = 'Error NO_RESULT: The call has no result.';
  return {
    // The prompt puts context before the request.
    query: (/<user_query>([\s\S]*)<\/user_query>/.exec(text)?.[1] ?? text).trim(),
    isFirstAnswer: !messages.some(({ role }) => role === 'assistant'),
    results: since.flatMap(callIds).map((id) => results.get(id) ?? lost),
  };
}

function callIds({ tool_calls: calls }: DemoMessage): string[] {
  return Array.isArray(calls) ? calls.map((call: unknown) => String(Object(call).id)) : [];
}

/** A content as text: a string, or OpenAI's list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => String(Object(part).text ?? '')).join('');
}

/** The data of each event. */
function* eventsOf({ text, call }: Move, messages: readonly DemoMessage[]): Generator<string> {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] });
  yield chunk({ role: 'assistant', content: '' });
  for (const content of piecesOf(text)) yield chunk({ content });
  const args = call ? JSON.stringify(call.arguments) : '';
  if (call) {
    // Numbered through the whole conversation.
    const id = `call_demo_${messages.flatMap(callIds).length + 1}`;
    const made = { name: call.name, arguments: '' };
    yield chunk({ tool_calls: [{ index: 0, id, type: 'function', function: made }] });
  }
  for (const piece of piecesOf(args)) {
    yield chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }
  yield chunk({}, call ? 'tool_calls' : 'stop');
  const prompt_tokens = tokensIn(messages.map(({ content }) => textOf(content)).join(''));
  const completion_tokens = tokensIn(text + args);
  const total_tokens = prompt_tokens + completion_tokens;
  const usage = { prompt_tokens, completion_tokens, total_tokens };
  yield JSON.stringify({ choices: [], usage });
  yield '[DONE]';
}

function tokensIn(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Splits by code points: UTF-8 cannot encode half a surrogate pair. */
function piecesOf(text: string): string[] {
  return text.match(new RegExp(`.{1,${PIECE_CHARS}}`, 'gsu')) ?? [];
}
