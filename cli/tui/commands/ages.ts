/** How long ago something was, in a few characters for a list. */
import { DAY, HOUR, MINUTE } from '../../../shared/units.ts';

/** `5 min ago`; a time in the future counts as now, because clocks differ. */
export function ageOf(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time);
  if (ms < MINUTE) return 'now';
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} d ago`;
}
