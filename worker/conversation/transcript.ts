/** What was said so far, as messages for the model: pure over what the conversation stored. */
import { type ChatMessage, type ContentPart, imagesOf, textOf } from '../../shared/requests.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import type { UpstreamMessage } from '../upstream/request.ts';
import type { Machine, Run, Steer, Turn } from './rows.ts';

/** A turn with what its calls came to, in call order; undefined where a call has no result. */
export interface AnsweredTurn {
  readonly turn: Turn;
  readonly results: readonly (ToolResult | undefined)[];
}

/** How users' messages are put: the one that a run answers with its context; prompt/ owns the words. */
export interface UserWords {
  asked(text: string, run: Run, machine: Machine | null): string;
  steering(text: string): string;
}

/** Everything that was said in one run. */
export interface Told {
  readonly run: Run;
  readonly turns: readonly AnsweredTurn[];
  readonly steers: readonly Steer[];
}

/**
 * The messages of one run: what was asked, then each turn with its results and what the user said after it. Every call
 * gets exactly one result. `withImages` is for a model that takes them.
 */
export function messagesOfRun(
  { run, turns, steers }: Told,
  words: UserWords,
  withImages: boolean,
): UpstreamMessage[] {
  const asked = run.request.messages.filter((message) => message.role !== 'system');
  // An upstream that refused the images once would refuse every message after it as well.
  const wereRefused = run.status === 'error' && turns.length === 0;
  return [
    ...asked.map((message, index) => {
      const isLast = index === asked.length - 1;
      const text = textOf(message.content);
      const shown = isLast ? words.asked(text, run, run.machine) : text;
      return toUpstream(message, shown, withImages && !wereRefused);
    }),
    ...saidAfter(0),
    ...turns.flatMap((turn, index) => [...messagesOfTurn(turn), ...saidAfter(index + 1)]),
    // What the run did not live to hear is heard by the next one.
    ...saidAfter(null),
  ];

  function saidAfter(count: number | null): UpstreamMessage[] {
    return steers
      .filter((steer) => steer.turns === count)
      .map(({ content }) =>
        toUpstream({ role: 'user', content }, words.steering(textOf(content)), withImages),
      );
  }
}

function toUpstream(message: ChatMessage, text: string, withImages: boolean): UpstreamMessage {
  if (message.role === 'assistant') return { role: 'assistant', content: text };
  const images = imagesOf(message.content);
  if (images.length === 0) return { role: 'user', content: text };
  const note = `${text}\n[${images.length} image(s), left out: this model takes none]`;
  if (!withImages) return { role: 'user', content: note.trimStart() };
  const parts: ContentPart[] = [{ type: 'text', text }, ...images];
  return { role: 'user', content: parts };
}

function messagesOfTurn({ turn, results }: AnsweredTurn): UpstreamMessage[] {
  const { text, calls, reasoningDetails } = turn;
  if (calls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }];
  return [
    {
      role: 'assistant',
      content: text,
      ...(reasoningDetails && { reasoning_details: reasoningDetails }),
      tool_calls: calls.map((call) => ({
        ...call.extra,
        id: call.upstreamId,
        type: 'function' as const,
        function: {
          name: call.name,
          arguments: call.rawArguments === '' ? '{}' : call.rawArguments,
        },
      })),
    },
    ...calls.map((call, index) => ({
      role: 'tool' as const,
      tool_call_id: call.upstreamId,
      content: resultText(results[index]),
    })),
  ];
}

function resultText(result: ToolResult | undefined): string {
  if (!result) return 'Error CANCELLED: the call was cancelled before it had a result.';
  return result.status === 'success' ? result.data : `Error ${result.code}: ${result.data}`;
}
