/** Serves the page of the browser test with the headers that the web page has. */
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { FOR_BROWSERS } from '../../local/runtime/page.ts';
import { PAGE_HEADERS } from '../../shared/page.ts';
import { listen, type PageServer } from '../browser/page-server.ts';

export async function serveParts(): Promise<PageServer> {
  const { outputFiles } = await build({
    entryPoints: { parts: join(import.meta.dirname, 'parts-page.tsx') },
    outdir: '/',
    ...FOR_BROWSERS,
    splitting: true,
    write: false,
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, contents]));
  return await listen((request, response) => {
    const path = request.url ?? '';
    const type = path.endsWith('.js') ? 'javascript' : path.endsWith('.css') ? 'css' : 'html';
    response.writeHead(200, { ...PAGE_HEADERS, 'content-type': `text/${type}; charset=utf-8` });
    response.end(files.get(path) ?? INDEX);
  });
}

const INDEX =
  '<!doctype html><link rel="stylesheet" href="/parts.css"><script type="module" src="/parts.js"></script><body>';
