/** Checks of edits that a busy machine does not cut off: they would find nothing, and say so. */
import { vi } from 'vitest';
import { MINUTE } from '../../../shared/units.ts';
import { DIAGNOSTICS_LIMITS } from '../limits.ts';

/** For the rest of this test, in this thread. */
export function checkPatiently(): void {
  for (const name of ['maxHoldMs', 'maxReadMs', 'maxImportersMs'] as const) {
    vi.spyOn(DIAGNOSTICS_LIMITS, name, 'get').mockReturnValue(MINUTE as never);
  }
}
