/** The damaged objects that this isolate has met: each is logged, and `/health` and `/metrics` have their number. */
import { METRIC_LIMITS } from './limits.ts';
import { type LogFields, logEvent } from './log.ts';

/** By the ids of their objects, which are the names of their files. */
const met = new Set<string>();

/** To be called where an object's file cannot be read. `object` is its id; absent where that is unknown. */
export function noteDamage(fields: LogFields): void {
  const key = fields.object ?? fields.conversation ?? fields.account;
  if (key && met.size < METRIC_LIMITS.maxDamaged) met.add(key);
  logEvent('storage_damaged', fields);
}

export function countDamaged(): number {
  return met.size;
}
