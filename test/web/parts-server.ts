/** Serves the page of the browser test with the headers that the web page has. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { FOR_BROWSERS } from '../../local/runtime/page.ts';
import { PAGE_HEADERS } from '../../shared/page.ts';

export interface PartsServer extends AsyncDisposable {
  readonly origin: string;
}

export async function serveParts(): Promise<PartsServer> {
  const { outputFiles } = await build({
    entryPoints: { parts: join(import.meta.dirname, 'parts-page.tsx') },
    outdir: '/',
    ...FOR_BROWSERS,
    splitting: true,
    write: false,
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, contents]));
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const type = path.endsWith('.js') ? 'javascript' : path.endsWith('.css') ? 'css' : 'html';
    response.writeHead(200, { ...PAGE_HEADERS, 'content-type': `text/${type}; charset=utf-8` });
    response.end(files.get(path) ?? INDEX);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const INDEX =
  '<!doctype html><link rel="stylesheet" href="/parts.css"><script type="module" src="/parts.js"></script><body>';
