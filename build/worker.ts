/** `npm run build:worker`: makes the module that `wrangler deploy` uploads. `wrangler.toml` has the command. */
import { join } from 'node:path';
import { bundleWorker } from '../local/runtime/bundle.ts';

const ROOT = join(import.meta.dirname, '..');
const outfile = join(ROOT, '.build', 'deploy', 'worker.js');

await bundleWorker(join(ROOT, 'worker', 'index.ts'), outfile, { minify: true });
