/** The results of a turn's calls as the model reads them: whole, by head and tail, or as a note. Pure. */

import { skillGiven } from '../../../../packages/prompt/index.ts';
import type { Toolbox } from '../../../../shared/tools/toolbox.ts';
import type { Call, SentResult } from '../../store/rows.ts';
import { WINDOW_LIMITS } from './limits.ts';
import { cutMiddle, levelFor } from './text.ts';
import type { AnsweredTurn } from './transcript.ts';

/** One text for each call: `maxChars` in all, unless WINDOW_LIMITS.minResultChars for each is more. */
export function resultTexts({ turn, results }: AnsweredTurn, maxChars: number): string[] {
  const texts = turn.calls.map((_, index) => resultText(results[index]));
  if (lengthOf(texts) <= maxChars) return texts;
  const level = levelFor(
    texts.map(({ length }) => length),
    maxChars,
  );
  return texts.map((text) => cutMiddle(text, Math.max(level, WINDOW_LIMITS.minResultChars)));
}

/** The length of the texts of {@link resultTexts}, also where only part of a result was read. */
export function fullLength({ turn, results }: AnsweredTurn, maxChars: number): number {
  const lengths = turn.calls.map((_, index) => wholeLength(results[index]));
  const level = Math.max(levelFor(lengths, maxChars), WINDOW_LIMITS.minResultChars);
  return lengths.reduce((sum, length) => sum + Math.min(length, level), 0);
}

function wholeLength(result: SentResult | undefined): number {
  const { length } = resultText(result);
  return result?.wholeChars === undefined
    ? length
    : length - result.data.length + result.wholeChars;
}

/** One text for each call: short results and texts of skills stay, a note replaces the others. */
export function prunedTexts({ turn, results }: AnsweredTurn, toolbox: Toolbox): string[] {
  return turn.calls.map((call, index) => {
    const text = resultText(results[index]);
    const isKept = skillGiven(call, results[index], toolbox) !== undefined;
    return isKept || text.length <= WINDOW_LIMITS.minResultChars
      ? text
      : noteOf(call, results[index], toolbox);
  });
}

/** In UTF-16 units. */
export function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** The text of a result. A failure begins with `Error` and its code, as models and the demo model expect. */
export function resultText(result: SentResult | undefined): string {
  if (!result) return 'Error CANCELLED: the call was cancelled before it had a result.';
  return result.status === 'success' ? result.data : `Error ${result.code}: ${result.data}`;
}

/** The note in place of a result: its outcome, and not to repeat an effect to see it. */
function noteOf({ name }: Call, result: SentResult | undefined, toolbox: Toolbox): string {
  const left = `its result of ${wholeLength(result)} characters is left out to save room`;
  if (result?.status === 'error') return `Error ${result.code}: ${left}.`;
  const isHarmless = toolbox.find(name)?.effect === 'read';
  return isHarmless
    ? `The call succeeded; ${left}. Make it again if you need the result.`
    : `The call was carried out; ${left}. Do not repeat it: look at what it has left behind.`;
}
