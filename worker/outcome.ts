/** Carries expected failures across an RPC as values: of a thrown error the runtime keeps only the message. */
import { DrawbridgeError, type ErrorCode } from '../shared/errors.ts';

export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: unknown;
    };

/** Success without a value. */
export const DONE = { ok: true, value: undefined } as const;

/** For the called side: turns a DrawbridgeError into a value. Other errors are bugs and still throw. */
export async function toOutcome<T>(work: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!(error instanceof DrawbridgeError)) throw error;
    const { code, message, details } = error;
    return { ok: false, code, message, ...(details !== undefined && { details }) };
  }
}

/** For the calling side: returns the value, or throws the failure again. */
export function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new DrawbridgeError(outcome.code, outcome.message, { details: outcome.details });
}
