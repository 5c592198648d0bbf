/** The programs of `fixtures/` as bundles, as users run Drawbridge. Made once, until a source changes. */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describeBundle } from '../../bin/bundle.mjs';
import { filesBelow, keyOf, openBuild } from '../../bin/kept-build.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const FIXTURES = join(import.meta.dirname, 'fixtures');
/** Below the clone: the programs find their own folder from their place. */
const CACHE = join(ROOT, '.build', 'fixtures');
const SOURCE_FOLDERS = ['bin', 'bridge', 'cli', 'client', 'local', 'machine', 'packages', 'shared'];

mkdirSync(CACHE, { recursive: true });
// Other users run what is in it, too; the copy of the program makes `.build` for its owner alone.
chmodSync(join(ROOT, '.build'), 0o755);
const { dir } = await openBuild({
  cache: CACHE,
  key: keyOf([
    ...filesBelow(
      [...SOURCE_FOLDERS.map((name) => join(ROOT, name)), FIXTURES],
      /\.(?:m?[jt]s|json)$/,
    ),
    join(ROOT, 'package-lock.json'),
  ]),
  product: 'drawbridge.js',
  build: async (outdir: string) => {
    const entryPoints = {
      drawbridge: join(FIXTURES, 'drawbridge.ts'),
      bridge: join(FIXTURES, 'bridge.ts'),
      'compute-worker': join(ROOT, 'bridge', 'compute', 'worker.ts'),
    };
    await build({ ...describeBundle(ROOT, outdir), entryPoints });
    chmodSync(outdir, 0o755);
  },
});

/** `drawbridge` of fixtures/drawbridge.ts. */
export const DRAWBRIDGE = join(dir, 'drawbridge.js');
/** `connect` and `bridge-host` of fixtures/bridge.ts. */
export const FAKE_BRIDGE = join(dir, 'bridge.js');
