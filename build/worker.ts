/** `npm run build:worker`: makes the module and the web page that `wrangler deploy` uploads. `wrangler.toml` has the command. */
import { join } from 'node:path';
import { bundleWorker } from '../local/runtime/bundle.ts';
import { PAGE_FOLDER, placePage } from '../local/runtime/page.ts';

const ROOT = join(import.meta.dirname, '..');
const outdir = join(ROOT, '.build', 'deploy');

await bundleWorker(join(ROOT, 'worker', 'index.ts'), join(outdir, 'worker.js'), { minify: true });
await placePage(join(ROOT, 'worker', 'index.ts'), join(outdir, PAGE_FOLDER));
