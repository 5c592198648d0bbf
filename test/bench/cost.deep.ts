import { join } from 'node:path';
import { expect, it } from 'vitest';
import { measureBills } from '../../bench/cases/billing.ts';
import { MEASURED } from '../../bench/cost.ts';
import { startUpstream } from '../../bench/upstream-process.ts';
import { readWranglerConfig } from '../../local/runtime/wrangler-config.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Of rows and requests, a batch or an alarm more or less; it depends on the clock. */
const TOLERANCE = 2;

it('the page on hosting computes with what the real Worker does', {
  timeout: 300_000,
}, async () => {
  const wrangler = await readWranglerConfig(join(ROOT, 'wrangler.toml'));
  await using upstream = await startUpstream(join(ROOT, 'bench', 'upstream.ts'));
  const { signal } = new AbortController();
  const bills = await measureBills({ upstream, wrangler, signal });
  for (const script of ['chatting', 'working'] as const) {
    for (const what of ['rows', 'requests', 'messages'] as const) {
      const off = Math.abs(bills[script][what] - MEASURED[script][what]);
      expect({ script, what, off: Math.max(0, off - TOLERANCE) }).toEqual({ script, what, off: 0 });
    }
  }
});
