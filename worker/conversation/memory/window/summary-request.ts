/** Builds the request for a summary: a record of everything before a new window, cut to the model's room. Pure. */

import type { UpstreamRequest } from '../../../../packages/model/index.ts';
import {
  buildSummariserPrompt,
  buildSummaryQuery,
  recorded,
} from '../../../../packages/prompt/index.ts';
import { type Cut, describeCall, maxSummaryChars } from './digest.ts';
import { WINDOW_LIMITS } from './limits.ts';
import { piecesBefore, textIn } from './range.ts';
import { resultText } from './results.ts';
import { cutMiddle, cutTagged, newestWithin } from './text.ts';
import type { ModelHistory, Piece, Utterance } from './transcript.ts';

export interface Summariser {
  readonly model: string;
  /** The UTF-16 units that a request to it may take. */
  readonly room: number;
}

/** One message of text, without tools: every model can answer it. `cut` is the conversation's room. */
export function summaryRequest(
  history: ModelHistory,
  cut: Cut,
  { model, room }: Summariser,
): UpstreamRequest {
  const maxWords = Math.floor(maxSummaryChars(cut.room) / WINDOW_LIMITS.wordChars);
  const system = buildSummariserPrompt(maxWords);
  const before = history.window?.digest?.summary ?? null;
  const earlier = before === null ? null : cutTagged(before, Math.floor(room * WINDOW_LIMITS.tail));
  const around = system.length + buildSummaryQuery(earlier, '').length;
  const left = Math.floor(room * WINDOW_LIMITS.full) - around - 2 * WINDOW_LIMITS.messageChars;
  const pieces = piecesBefore(history, cut.window.from);
  const record = recordOf(pieces, left);
  return {
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: buildSummaryQuery(earlier, record) },
    ],
    tools: [],
    isOnce: true,
  };
}

/** Cuts long texts shorter and shorter until everything fits; then leaves out the oldest entries. */
function recordOf(pieces: readonly Piece[], maxChars: number): string {
  const { maxRenderedChars, minRenderedChars } = WINDOW_LIMITS;
  let entries: string[] = [];
  for (let chars: number = maxRenderedChars; chars >= minRenderedChars; chars /= 2) {
    const textChars = Math.floor(chars);
    entries = pieces.flatMap((piece) => entriesOf(piece, textChars));
    if (lengthOf(entries) <= maxChars) return entries.join('\n');
  }
  const left = maxChars - RECORD_CUT.length - 1;
  return left < 0 ? '' : [RECORD_CUT, ...newestWithin(entries, left, 1)].join('\n');
}

const RECORD_CUT = '[older entries are left out]';

function lengthOf(entries: readonly string[]): number {
  return entries.reduce((sum, { length }) => sum + length + 1, 0);
}

function entriesOf({ utterances, answered, toolbox }: Piece, textChars: number): string[] {
  const said = utterances.map((utterance) => saidEntry(utterance, textChars));
  if (!answered) return said;
  const { turn, results } = answered;
  if (turn.text !== '') said.push(recorded('assistant', cutMiddle(turn.text, 2 * textChars)));
  for (const [index, call] of turn.calls.entries()) {
    const made = `${describeCall(call, toolbox)}\n${cutMiddle(call.rawArguments, textChars)}`;
    said.push(recorded('call', made));
    said.push(recorded('result', cutMiddle(resultText(results[index]), textChars)));
  }
  return said;
}

/** Messages get twice the space of results, because they are short and show the most. */
function saidEntry(utterance: Utterance, textChars: number): string {
  const tag = utterance.message.role === 'assistant' ? 'assistant' : 'user';
  return recorded(tag, cutMiddle(textIn(utterance), 2 * textChars));
}
