/**
 * The demo model: a deterministic little planner behind the wire of a real one, so that a newcomer without any key
 * sees the whole system work. It understands a few plain requests and says that it is no language model.
 */
import { type DemoMessage, readHistory } from './history.ts';
import { nextMove } from './plan.ts';
import { parseSteps } from './steps.ts';
import { encodeMove } from './wire.ts';

export interface DemoRequest {
  readonly messages: readonly DemoMessage[];
  /** Canonical names of the tools on offer; no other is called. */
  readonly tools: readonly string[];
}

/**
 * The next answer as a `text/event-stream` of `chat.completion.chunk`s. The same request always gets the same bytes:
 * everything is decided from the messages, so a turn that is asked again after a crash goes on as before.
 */
export function demoReply({ messages, tools }: DemoRequest): Response {
  const history = readHistory(messages);
  const move = nextMove(parseSteps(history.query), history, new Set(tools));
  return new Response(encodeMove(move, history), {
    headers: { 'content-type': 'text/event-stream' },
  });
}
