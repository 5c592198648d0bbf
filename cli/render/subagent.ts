/** Shows what becomes of a subagent: its progress in one line at a time, and its questions whole. */
import type { SubagentState } from '../../shared/wire/subagents.ts';
import type { Paint } from '../terminal/paint.ts';
import { shortLine } from '../terminal/short-line.ts';
import { writeQuestions } from './clarification.ts';
import type { Pen } from './pen.ts';
import { writeApproval } from './run.ts';
import type { ShownEvent } from './shown.ts';

type SubagentEvent = Extract<
  ShownEvent,
  { type: 'subagent_update' | 'subagent_ask' | 'subagent_answered' }
>;

/** `name` is what the call says of its task. */
export function writeSubagentEvent(
  pen: Pen,
  name: string,
  event: SubagentEvent,
  paint: Paint,
): void {
  switch (event.type) {
    case 'subagent_update': {
      const words = progressOf(event.subagent);
      if (words === null) return;
      pen.line();
      pen.write(`  ${paint('dim', `${shortLine(name)}: ${shortLine(words)}`)}\n`);
      return;
    }
    case 'subagent_ask': {
      const { ask } = event;
      pen.gap();
      pen.write(`${paint('yellow', `The subagent “${shortLine(ask.title)}” asks:`)}\n`);
      if (ask.kind === 'clarification') return writeQuestions(pen, ask.questions, paint);
      return writeApproval(pen, { type: 'approval_request', ...ask }, paint);
    }
    case 'subagent_answered':
      pen.line();
      pen.write(`${paint('dim', 'A question of a subagent is no longer open.')}\n`);
      return;
    default:
      event satisfies never;
  }
}

/** Null while there is nothing to show: the call shows the start, its result the end, and a question itself. */
export function progressOf({ status, activity, turnCount }: SubagentState): string | null {
  if (status !== 'streaming' || activity === undefined) return null;
  return `${activity} (turn ${turnCount})`;
}
