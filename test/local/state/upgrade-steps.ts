/** Steps of an upgrade that has more to do than the real ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FormatStep } from '../../../local/state/format.ts';

const tables = { conversation: 1, tunnel: 1, account: 1 };

/** To format 1 without changes, to 2 by changing three files, to 3 by what 2 has made. */
export const STEPS: readonly FormatStep[] = [
  { tables },
  {
    tables,
    change: async () => ({ 'settings.json': 'two', 'projects/a/rules.json': 'two', old: null }),
  },
  {
    tables,
    change: async (dir) => ({
      'settings.json': `${readFileSync(join(dir, 'settings.json'), 'utf8')} and three`,
    }),
  },
];
