/** What a tool returned, as lines. */
import { ToolOutcome } from '../../../shared/wire/documents.ts';
import { resultText } from '../../render/result-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { wrapped } from './lines.ts';

/** Why a call failed; nothing for one that succeeded. */
export function failureLines(result: unknown, width: number, paint: Paint): string[] {
  const outcome = ToolOutcome.safeParse(result).data;
  if (outcome?.status !== 'error') return [];
  return wrapped(resultText(outcome), width).map((line) => paint('red', line));
}
