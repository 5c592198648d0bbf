/** Expected failures across an RPC: the runtime carries only an error's message over, so they travel as values. */
import { DrawbridgeError, type ErrorCode } from '../shared/errors.ts';

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: unknown;
    };

/** For the end that is called. Bugs still throw. */
export async function toOutcome<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof DrawbridgeError)) throw error;
    const { code, message, details } = error;
    return { ok: false, code, message, ...(details !== undefined && { details }) };
  }
}

/** For the end that calls: the value, or the failure thrown again. */
export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new DrawbridgeError(outcome.code, outcome.message, { details: outcome.details });
}
