/** A move in OpenAI's wire form: chunks with a few characters each, as real upstreams send them. */
import type { ChatCompletionChunk } from 'openai/resources/chat/completions';
import { DEMO_LIMITS } from '../../../shared/limits.ts';
import { DEMO_MODEL } from '../models.ts';
import type { History } from './history.ts';
import type { Move } from './plan.ts';

type Spoken = Pick<History, 'callCount' | 'chars'>;

/** The event stream of an answer. It is written as it is read, so a reader that leaves early costs nothing. */
export function encodeMove(move: Move, spoken: Spoken): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const events = eventsOf(move, spoken);
  return new ReadableStream({
    pull(controller) {
      const { done, value } = events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`data: ${value}\n\n`));
    },
  });
}

function* eventsOf(move: Move, spoken: Spoken): Generator<string, void, undefined> {
  for (const chunk of chunksOf(move, spoken)) yield JSON.stringify(chunk);
  yield '[DONE]';
}

function* chunksOf(
  { text, calls }: Move,
  { callCount, chars }: Spoken,
): Generator<ChatCompletionChunk, void, undefined> {
  yield chunk({ role: 'assistant', content: '' });
  for (const content of piecesOf(text)) yield chunk({ content });
  for (const [index, call] of calls.entries()) {
    const { name } = call;
    const id = `call_demo_${callCount + index + 1}`;
    yield toolCall({ index, id, type: 'function', function: { name, arguments: '' } });
    for (const piece of piecesOf(JSON.stringify(call.arguments))) {
      yield toolCall({ index, function: { arguments: piece } });
    }
  }
  yield chunk({}, calls.length > 0 ? 'tool_calls' : 'stop');
  yield usageChunk(chars, text.length + JSON.stringify(calls).length);
}

type Choice = ChatCompletionChunk['choices'][number];
type ToolCall = NonNullable<Choice['delta']['tool_calls']>[number];

/** No clock: the same request gets the same bytes. */
const HEAD = {
  id: 'chatcmpl-demo',
  object: 'chat.completion.chunk',
  created: 0,
  model: DEMO_MODEL,
} as const;

function chunk(
  delta: Choice['delta'],
  finishReason: Choice['finish_reason'] = null,
): ChatCompletionChunk {
  return { ...HEAD, choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

function toolCall(call: ToolCall): ChatCompletionChunk {
  return chunk({ tool_calls: [call] });
}

function usageChunk(promptChars: number, completionChars: number): ChatCompletionChunk {
  const promptTokens = tokensOf(promptChars);
  const completionTokens = tokensOf(completionChars);
  return {
    ...HEAD,
    choices: [],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

function tokensOf(chars: number): number {
  return Math.ceil(chars / DEMO_LIMITS.charsPerToken);
}

/** By code points: half a character cannot be written in UTF-8. */
function* piecesOf(text: string): Generator<string, void, undefined> {
  const characters = Array.from(text);
  for (let start = 0; start < characters.length; start += DEMO_LIMITS.pieceChars) {
    yield characters.slice(start, start + DEMO_LIMITS.pieceChars).join('');
  }
}
