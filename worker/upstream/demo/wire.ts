/** The demo model as an upstream. It needs no key, so that a new user can see the whole system running. */
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { type Move, nextMove, type Talk } from './planner.ts';

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
  const results = new Map(
    since.map(({ role, tool_call_id: id, content }) => [role === 'tool' && id, textOf(content)]),
  );
  const text = textOf(messages[asked]?.content);
  const lost = 'Error NO_RESULT: The call has no result.';
  return {
    // The prompt puts context before the request.
    query: (/<user_query>([\s\S]*)<\/user_query>/.exec(text)?.[1] ?? text).trim(),
    isFirstAnswer: !messages.some(({ role }) => role === 'assistant'),
    turns: since
      .map((message) => callIds(message).map((id) => results.get(id) ?? lost))
      .filter((turn) => turn.length > 0),
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

/** `created` is constant: the same request gets the same bytes. */
const HEAD = {
  id: 'chatcmpl-demo',
  created: 0,
  model: DEMO_MODEL,
  object: 'chat.completion.chunk',
};

type DemoDelta = ChatCompletionChunk['choices'][number]['delta'];

/** The data of each event. */
function* eventsOf({ text, calls }: Move, messages: readonly DemoMessage[]): Generator<string> {
  const chunk = (delta: DemoDelta, finish_reason: string | null = null) =>
    JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason }] });
  // Ids are numbered through the whole conversation.
  const firstId = messages.flatMap(callIds).length + 1;
  yield chunk({ role: 'assistant', content: '' });
  for (const content of piecesOf(text)) yield chunk({ content });
  for (const [index, { name, arguments: args }] of calls.entries()) {
    const id = `call_demo_${firstId + index}`;
    yield chunk({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    });
    for (const piece of piecesOf(JSON.stringify(args))) {
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  yield chunk({}, calls.length > 0 ? 'tool_calls' : 'stop');
  const prompt = tokensIn(messages.map(({ content }) => textOf(content)).join(''));
  const completion = tokensIn(text + JSON.stringify(calls));
  const usage = { prompt_tokens: prompt, completion_tokens: completion };
  const total = { ...usage, total_tokens: prompt + completion };
  yield JSON.stringify({ ...HEAD, choices: [], usage: total });
  yield '[DONE]';
}

function tokensIn(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}

/** Splits by code points: UTF-8 cannot encode half a surrogate pair. */
function piecesOf(text: string): string[] {
  return text.match(new RegExp(`.{1,${PIECE_CHARS}}`, 'gsu')) ?? [];
}
