/** A search for changes that a busy machine does not cut off: it would find one change instead of several. */
import { beforeEach, vi } from 'vitest';
import { MINUTE } from '../../../shared/units.ts';
import { EDIT_LIMITS } from '../limits.ts';

/** For each test of this file, in this thread. */
export function searchPatiently(): void {
  beforeEach(
    () => void vi.spyOn(EDIT_LIMITS, 'diffTimeoutMs', 'get').mockReturnValue(MINUTE as never),
  );
}
