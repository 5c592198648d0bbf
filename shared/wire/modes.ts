/** What a conversation may do. Every request, run and tool call carries the mode. */
import * as z from 'zod';
import { named } from '../named.ts';

export const Mode = z.enum(['agent', 'plan', 'ask', 'debug']);
named.add(Mode, { id: 'Mode' });
export type Mode = z.infer<typeof Mode>;

/** What a tool may do: `read` changes nothing, `write` changes files, `execute` runs programs. */
export const Effect = z.enum(['read', 'write', 'execute']);
named.add(Effect, { id: 'Effect' });
export type Effect = z.infer<typeof Effect>;

/** Whether a mode runs tools of this effect. The offer, the log and the bridge each check it. */
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

/** Whether this mode may change nothing. */
export function isReadOnly(mode: Mode): boolean {
  return !modeAllows(mode, 'write');
}

/** In debug mode the model puts it on every line of instrumentation. The run searches for it before it ends. */
export const DEBUG_MARK = 'DRAWBRIDGE-DEBUG';
