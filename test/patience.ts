/** What every test file begins with: patience on a busy machine, and nothing that the test before has replaced. */
import { afterEach, vi } from 'vitest';

/** As `expect.poll` has it by vitest.config.ts. A condition that never comes fails all the same. */
const PATIENT = { timeout: 30_000 };

const { waitFor, waitUntil } = vi;
// Without it `vi.waitFor` takes a second, and no setting changes that.
vi.waitFor = (condition, options) => waitFor(condition, patient(options));
vi.waitUntil = (condition, options) => waitUntil(condition, patient(options));

/** Options that name no time of their own, such as an interval alone, get it too. */
function patient(options: number | { timeout?: number; interval?: number } = {}) {
  return typeof options === 'number' ? options : { ...PATIENT, ...options };
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});
