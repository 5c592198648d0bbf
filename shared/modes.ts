/** What a conversation may do: the mode travels with every request, run and tool call. */
import * as z from 'zod';

export const Mode = z.enum(['agent', 'plan', 'ask', 'debug']);
export type Mode = z.infer<typeof Mode>;

/**
 * How far a tool reaches: `read` changes nothing and may be run again, `write` changes files, `execute` runs programs.
 */
export const Effect = z.enum(['read', 'write', 'execute']);
export type Effect = z.infer<typeof Effect>;

/**
 * Whether a mode lets a tool of this effect run. Asked three times: when tools are offered to the model, when its
 * call is logged, and by the bridge, which trusts neither.
 */
export function modeAllows(mode: Mode, effect: Effect): boolean {
  switch (mode) {
    case 'agent':
    case 'debug':
      return true;
    case 'plan':
    case 'ask':
      return effect === 'read';
  }
}

/** Whether nothing may be changed in this mode. */
export function isReadOnly(mode: Mode): boolean {
  return !modeAllows(mode, 'write');
}
