/** A page in a real browser, served from an origin of its own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { listen, type PageServer } from './page-server.ts';

/** Where Debian's package puts it. */
export const CHROMIUM = '/usr/bin/chromium';

/** Why tests with a browser cannot run here, for their title; undefined where they can. */
export const NO_CHROMIUM = existsSync(CHROMIUM) ? undefined : 'skipped: Chromium is not installed';

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
  return await listen((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><script src="/page.js"></script>');
  });
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
