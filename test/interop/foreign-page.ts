/** A page of others' packages, as an app would serve it. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { listen, type PageServer } from '../browser/page-server.ts';

/** Serves a page whose one script is the file of this folder, with the packages that `installPackages` put into `folder`. */
export async function serveForeignPage(file: string, folder: string): Promise<PageServer> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, file)],
    nodePaths: [join(folder, 'node_modules')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  const script = outputFiles[0]?.text ?? '';
  return await listen((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    const page = '<!doctype html><body><script type="module" src="/page.js"></script></body>';
    response.end(isScript ? script : page);
  });
}
