/** Finds the parts before a new window that the digest must keep. Pure. */
import * as z from 'zod';
import { type ActiveSkill, skillGiven } from '../../../../packages/prompt/index.ts';
import { imagesOf, textOf } from '../../../../shared/api/requests.ts';
import { createPlan } from '../../../../shared/tools/create-plan.ts';
import { Todo } from '../../../../shared/wire/documents.ts';
import type { PlanState } from '../../../../shared/wire/plans.ts';
import type { ToolResult } from '../../../../shared/wire/tunnel.ts';
import type { Call, Window } from '../../store/rows.ts';
import { attachedIn } from './around.ts';
import { type ModelHistory, type Piece, piecesOf, type Utterance } from './transcript.ts';

/** The pieces from the start of the present window to the start of the new one. */
export function piecesBefore(history: ModelHistory, from: Window['from']): Piece[] {
  return piecesOf(history).filter(
    ({ run, turns }) => run.ordinal < from.run || (run.ordinal === from.run && turns < from.turns),
  );
}

/** The user's own messages, oldest first. A changed plan is none: the digest has the plan itself. */
export function wordsIn(pieces: readonly Piece[]): string[] {
  return pieces
    .flatMap(({ utterances }) => utterances)
    .filter(({ message }) => message.role === 'user')
    .filter(({ as, plan, isNote }) => !isNote && !(plan && as === 'plain'))
    .map(textIn);
}

/** An utterance as text; a note stands for images. */
export function textIn({ message }: Utterance): string {
  const text = textOf(message.content);
  const count = imagesOf(message.content).length;
  return count === 0 ? text : `${text}\n[${count} image(s), not shown any more]`.trimStart();
}

/** The newest plan, as Markdown: the model's own, or one that a person changed or executed. */
export function planIn(pieces: readonly Piece[]): string | null {
  for (const piece of pieces.toReversed()) {
    for (const { call, result } of callsBack(piece)) {
      const isPlan = piece.toolbox.nameOf(call.name) === createPlan.name;
      if (!isPlan || result?.status !== 'success') continue;
      const plan = createPlan.arguments.safeParse(call.arguments).data;
      if (plan) return `# ${plan.name}\n\n${plan.overview}\n\n${plan.plan}`;
    }
    const plan = broughtIn(piece);
    if (plan) return `# ${plan.title}\n\n${plan.overview}\n\n${plan.content}`;
  }
  return null;
}

/** The metadata that the tools that write todos (calls/edge-tools/) add for the conversation. */
export const TodoList = z.object({ list: z.array(Todo) });

/** The newest list of todos; null without one. */
export function todosIn(pieces: readonly Piece[]): readonly Todo[] | null {
  for (const piece of pieces.toReversed()) {
    for (const { call, result } of callsBack(piece)) {
      const isForEdge = piece.toolbox.executorOf(call.name) === 'edge';
      const written = isForEdge && TodoList.safeParse(result?.metadata).data;
      if (written) return written.list;
    }
    const plan = broughtIn(piece);
    if (plan) return plan.todos;
  }
  return null;
}

/** The texts of skills and commands, in their order. */
export function skillsIn(pieces: readonly Piece[]): ActiveSkill[] {
  return pieces.flatMap((piece) => [
    ...attachedIn(piece),
    ...callsBack(piece)
      .reverse()
      .flatMap(({ call, result }) => skillGiven(call, result, piece.toolbox) ?? []),
  ]);
}

/** The last plan that was brought before the piece's turn. */
function broughtIn({ utterances }: Piece): PlanState | undefined {
  return utterances.findLast(({ plan }) => plan)?.plan;
}

interface AnsweredCall {
  readonly call: Call;
  readonly result: ToolResult | undefined;
}

/** The calls of the piece's turn, the last first. */
function callsBack({ answered }: Piece): AnsweredCall[] {
  if (!answered) return [];
  const { turn, results } = answered;
  return turn.calls.map((call, index) => ({ call, result: results[index] })).reverse();
}
