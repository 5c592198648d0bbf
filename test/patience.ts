/** A condition may take long on a busy machine: `vi.waitFor` gives it a second, and no setting changes that. */
import { vi } from 'vitest';

/** As `expect.poll` has it by vitest.config.ts. One that never comes fails all the same. */
const PATIENT = { timeout: 30_000 };

const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options = PATIENT) => waitFor(condition, options);
vi.waitUntil = (condition, options = PATIENT) => waitUntil(condition, options);
