/** Shows what concerns the run: approvals, warnings, a change of the model, the end. */

import { MODEL_LIMITS } from '../../shared/limits.ts';
import { attentionSentence } from '../../shared/shown/attention.ts';
import { describeProposal } from '../../shared/shown/proposal.ts';
import { waitSentence } from '../../shared/shown/waits.ts';
import { inPlainSight, printable, printableLine } from '../../shared/text/plain-sight.ts';
import { SECOND } from '../../shared/units.ts';
import type { Cost } from '../../shared/wire/budget.ts';
import type { Usage } from '../../shared/wire/documents.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import { RENDER_LIMITS } from '../limits.ts';
import { asTyped, ownCommand } from '../terminal/own-command.ts';
import type { Paint } from '../terminal/paint.ts';
import { shortLine } from '../terminal/short-line.ts';
import type { Pen } from './pen.ts';

type StreamEventOf<Type extends StreamEvent['type']> = Extract<StreamEvent, { type: Type }>;

/** Shows the whole proposal, uncut: it is what a device signs. */
export function writeApproval(
  pen: Pen,
  event: StreamEventOf<'approval_request'>,
  paint: Paint,
): void {
  pen.gap();
  const { proposal, reason } = event;
  const asks = `${inPlainSight(proposal.tool).replaceAll('\n', ' ')} needs your approval:`;
  pen.write(
    `${paint('yellow', `? ${asks}`)} ${printable(asTyped(reason)).replaceAll('\n', ' ')}\n`,
  );
  for (const line of describeProposal(proposal)) pen.write(`${line}\n`);
}

export function writeResolved(
  pen: Pen,
  event: StreamEventOf<'approval_resolved'>,
  paint: Paint,
): void {
  pen.line();
  const message = event.message === undefined ? '' : `: ${printable(event.message)}`;
  const words = `${answerWords(event)}${message.replaceAll('\n', ' ')}`;
  pen.write(`${paint('dim', words)}\n`);
}

/** How an approval was answered, and where. */
export function answerWords({
  decision,
  scope,
  by,
}: Pick<StreamEventOf<'approval_resolved'>, 'decision' | 'scope' | 'by'>): string {
  return `${DECISIONS[scope ?? decision]}${PLACES.get(by) ?? ''}`;
}

const DECISIONS = {
  once: 'Allowed once',
  conversation: 'Allowed in this conversation',
  always: 'Allowed from now on',
  reject: 'Rejected',
  expired: 'Not answered',
  superseded: 'Another question replaces this one',
} as const;
/** `here` is the terminal that shows it. */
const PLACES = new Map([
  ['here', ' here'],
  ['device', ' on a device'],
  ['terminal', ' at the machine'],
  ['editor', ' in the editor'],
]);

/** Says which mentions of the message lead to nothing. */
export function writeNotAttached(
  pen: Pen,
  attachments: StreamEventOf<'attached'>['attachments'],
  paint: Paint,
): void {
  for (const words of notAttached(attachments)) {
    pen.line();
    pen.write(`${paint('yellow', words)}\n`);
  }
}

/** A sentence for each mention that leads to nothing. */
export function notAttached(attachments: StreamEventOf<'attached'>['attachments']): string[] {
  return attachments
    .filter(({ type }) => type === 'none')
    .map(({ name, reason = '' }) =>
      printableLine(`@${name} is not attached: ${reason}`, RENDER_LIMITS.maxReasonChars),
    );
}

/** Warns of what a command left behind. The person must see it even if the model does not mention it. */
export function writeAttention(
  pen: Pen,
  { items }: StreamEventOf<'attention'>,
  paint: Paint,
): void {
  pen.line();
  for (const line of attentionLines(items, paint)) pen.write(`  ${line}\n`);
}

/** A sentence for each thing that a command left behind. */
export function attentionLines(items: StreamEventOf<'attention'>['items'], paint: Paint): string[] {
  return items.map((item) => {
    const words = printable(attentionSentence(item, ownCommand())).replaceAll(/[\n\t]/g, ' ');
    return paint(item.failure === undefined ? 'yellow' : 'red', `! ${words}`);
  });
}

/** Says that another model answers, that the answer waits or nears its budget, or that mode or plan changed. */
export function writeNews(pen: Pen, event: RunNews, paint: Paint): void {
  const words = newsOf(event);
  if (words === null) return;
  pen.line();
  pen.write(`${paint('dim', words)}\n`);
}

/** What a run says of itself between its documents. */
export type RunNews = StreamEventOf<
  | 'response_model'
  | 'model_wait'
  | 'context_summary'
  | 'budget_near'
  | 'mode_update'
  | 'plan_update'
>;

/** In one sentence; null where there is nothing to say. */
export function newsOf(event: RunNews): string | null {
  if (event.type === 'plan_update') return `The plan “${shortLine(event.plan.title)}” was changed.`;
  if (event.type === 'mode_update') {
    return `The agent goes on in ${shortLine(event.ownMode ?? event.mode)} mode.`;
  }
  if (event.type === 'response_model') return `${shortLine(event.model)} answers from here on.`;
  if (event.type === 'budget_near') return nearOf(event);
  if (event.type === 'model_wait') return `${waitSentence(event.wait, Date.now())}.`;
  return event.status === 'running'
    ? 'The model is summarising the older part of the conversation.'
    : null;
}

function nearOf({ budget: { limits, spent, near } }: StreamEventOf<'budget_near'>): string {
  const { maxTurns } = limits;
  const isTurns = near.includes('maxTurns') && maxTurns !== undefined;
  const turns = isTurns ? ` ${maxTurns - spent.turns} of ${maxTurns} turns are left.` : '';
  return `The answer is close to its limit, which the model knows.${turns}`;
}

/** Shows how the run ended, and its tokens, cost and time. */
export function writeDone(pen: Pen, event: StreamEventOf<'done'>, paint: Paint): void {
  pen.gap();
  if (event.status === 'cancelled') pen.write(`${paint('yellow', 'Cancelled.')}\n`);
  if (event.status === 'error') pen.write(`${paint('red', 'Ended in an error.')}\n`);
  pen.write(`${paint('dim', effortOf(event))}\n`);
}

/** Tokens, cost, turns, calls and time of an answer, in one line. */
export function effortOf({
  usage,
  metadata,
}: Pick<StreamEventOf<'done'>, 'usage' | 'metadata'>): string {
  const { turnCount, toolCallCount, duration_ms: durationMs } = metadata;
  return [
    ...(usage ? spentOf(usage) : []),
    count(turnCount, 'turn'),
    ...(toolCallCount > 0 ? [count(toolCallCount, 'tool call')] : []),
    formatSeconds(durationMs),
  ].join(' · ');
}

/** Tokens and cost. Both are lower bounds if the model server reports no usage for some requests. */
function spentOf(usage: Usage): string[] {
  const { totalTokens, promptTokens, completionTokens, cost, unreportedRequests = 0 } = usage;
  const atLeast = unreportedRequests > 0 ? 'at least ' : '';
  const missing = `; the model server reports none for ${count(unreportedRequests, 'request')}`;
  const parts = `${promptTokens} in, ${completionTokens} out${atLeast && missing}`;
  const tokens = `${atLeast}${totalTokens} tokens (${parts})`;
  return [tokens, ...(cost ? [`${atLeast}${formatCost(cost)}`] : [])];
}

/** `0.0042 USD`: two decimals, or more for a small amount, so that two digits are shown. */
export function formatCost({ amount, currency }: Cost): string {
  const decimals = amount > 0 ? 1 - Math.floor(Math.log10(amount)) : 0;
  const shown = Math.min(Math.max(decimals, 2), MODEL_LIMITS.costDecimals);
  return `${amount.toFixed(shown)} ${shortLine(currency)}`;
}

/** Announces that the answer is shown again from its start. */
export function writeRestart(pen: Pen, paint: Paint): void {
  pen.gap();
  const words = 'Part of the answer was withdrawn. This is the whole answer:';
  pen.write(`${paint('yellow', words)}\n\n`);
}

/** `1.2 s` */
export function formatSeconds(durationMs: number): string {
  return `${(durationMs / SECOND).toFixed(1)} s`;
}

/** `1 turn`, `2 turns` */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
