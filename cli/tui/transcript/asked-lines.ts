/** What waits for a person at a document, who answered it, and what it left behind that they must look at. */
import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import * as z from 'zod';
import type { Document } from '../../../client/index.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { AttentionItem } from '../../../shared/wire/attention.ts';
import { AnsweredApproval } from '../../../shared/wire/events.ts';
import { asksOf } from '../../../shared/wire/fold.ts';
import { RENDER_LIMITS } from '../../limits.ts';
import { answerWords, attentionLines } from '../../render/run.ts';
import { questionOf } from '../../render/shown.ts';
import { shortLine } from '../../terminal/short-line.ts';
import type { ScreenDocumentProps } from './document-props.ts';
import { INDENT, indented } from './lines.ts';
import { approvalKey } from './look.ts';

/** The dialog shows whole what waits. Here stands that it does. */
export function askedLines(
  { document, response, look }: ScreenDocumentProps,
  width: number,
): string[] {
  const { paint, answeredHere } = look;
  const isHere = answeredHere.has(approvalKey(response.id, document.id));
  const items = z.array(AttentionItem).safeParse(document.metadata['newlyProtected']).data ?? [];
  const lines = [
    ...waitingWords(document).map((words) => paint('yellow', `? ${words}`)),
    ...answeredWords(document, isHere).map((words) => paint('dim', words)),
    ...attentionLines(items, paint),
  ];
  const room = Math.max(1, width - INDENT.length);
  return indented(lines.flatMap((line) => wrapTextWithAnsi(line, room)));
}

function waitingWords(document: Document): string[] {
  const asked = questionOf(document);
  const below = asksOf(document.metadata).map(
    ({ title }) => `The subagent “${shortLine(title)}” waits for you.`,
  );
  if (asked?.type !== 'approval_request') return below;
  const reason = printableLine(asked.reason, RENDER_LIMITS.maxReasonChars);
  return [`${shortLine(asked.proposal.tool)} waits for you: ${reason}`, ...below];
}

function answeredWords({ metadata }: Document, isHere: boolean): string[] {
  const answered = AnsweredApproval.safeParse(metadata['answered']).data;
  return answered ? [answerWords({ ...answered, ...(isHere && { by: 'here' }) })] : [];
}
