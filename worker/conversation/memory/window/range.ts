/** Finds the parts before a new window that the digest must keep. Pure. */
import * as z from 'zod';
import { Todo } from '../../../../shared/documents.ts';
import { imagesOf, textOf } from '../../../../shared/requests.ts';
import { createPlan } from '../../../../shared/tools/create-plan.ts';
import type { Toolbox } from '../../../../shared/tools/toolbox.ts';
import type { ToolResult } from '../../../../shared/tunnel.ts';
import type { Call, Window } from '../../store/rows.ts';
import { type History, type Piece, piecesOf, type Utterance } from './transcript.ts';

/** The pieces from the start of the present window to the start of the new one. */
export function piecesBefore(history: History, from: Window['from']): Piece[] {
  return piecesOf(history).filter(
    ({ run, turns }) => run.ordinal < from.run || (run.ordinal === from.run && turns < from.turns),
  );
}

/** The user's own messages, oldest first. */
export function wordsIn(pieces: readonly Piece[]): string[] {
  return pieces
    .flatMap(({ utterances }) => utterances)
    .filter(({ message }) => message.role === 'user')
    .map(textIn);
}

/** An utterance as text; a note stands for images. */
export function textIn({ message }: Utterance): string {
  const text = textOf(message.content);
  const count = imagesOf(message.content).length;
  return count === 0 ? text : `${text}\n[${count} image(s), not shown any more]`.trimStart();
}

/** The newest plan, as Markdown. */
export function planIn(pieces: readonly Piece[], toolbox: Toolbox): string | null {
  for (const { call, result } of callsBack(pieces)) {
    const isPlan = toolbox.nameOf(call.name) === createPlan.name;
    if (!isPlan || result?.status !== 'success') continue;
    const plan = createPlan.arguments.safeParse(call.arguments).data;
    if (plan) return `# ${plan.name}\n\n${plan.overview}\n\n${plan.plan}`;
  }
  return null;
}

/** The metadata that the tools that write todos (calls/edge-tools/) add for the conversation. */
const TodoList = z.object({ list: z.array(Todo) });

/** The newest list of todos; null without one. */
export function todosIn(pieces: readonly Piece[], toolbox: Toolbox): readonly Todo[] | null {
  for (const { call, result } of callsBack(pieces)) {
    const isForEdge = toolbox.executorOf(call.name) === 'edge';
    const written = isForEdge && TodoList.safeParse(result?.metadata).data;
    if (written) return written.list;
  }
  return null;
}

interface AnsweredCall {
  readonly call: Call;
  readonly result: ToolResult | undefined;
}

/** All calls, the newest first. */
function* callsBack(pieces: readonly Piece[]): Generator<AnsweredCall, void> {
  for (const { answered } of pieces.toReversed()) {
    if (!answered) continue;
    for (const [index, call] of [...answered.turn.calls.entries()].reverse()) {
      yield { call, result: answered.results[index] };
    }
  }
}
