/** A page in a real browser, served from an origin of its own. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where Debian's package puts it. */
export const CHROMIUM = '/usr/bin/chromium';

/** Why tests with a browser cannot run here, for their title; undefined where they can. */
export const NO_CHROMIUM = existsSync(CHROMIUM) ? undefined : 'skipped: Chromium is not installed';

export interface PageServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; the same pages are there as `http://localhost:PORT`, which is another origin. */
  readonly origin: string;
}

/** Serves an empty page whose script has the exports of page.ts as the global `page`. */
export async function servePage(): Promise<PageServer> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'page.ts')],
    bundle: true,
    format: 'iife',
    globalName: 'page',
    platform: 'browser',
    target: 'es2022',
    write: false,
  });
  const script = outputFiles[0]?.text ?? '';
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><script src="/page.js"></script>');
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

/** A headless browser that asks only the pages it is shown. Its own sandbox needs what containers lack. */
export async function startBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Opens the page of this origin. */
export async function openPage(browser: Browser, origin: string): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(origin);
  return page;
}
