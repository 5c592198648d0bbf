import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { type House, startHouse } from './house.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** A folder of a user who has installed the package and copied its examples. */
let folder: string;
let pages: { readonly origin: string; close(): void };
let house: House;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'drawbridge-client-'));
  const client = join(ROOT, 'client');
  const installed = join(folder, 'node_modules', 'drawbridge-client');
  mkdirSync(installed, { recursive: true });
  await run(process.execPath, [join(ROOT, 'build', 'client.ts'), join(installed, 'dist')]);
  cpSync(join(client, 'package.json'), join(installed, 'package.json'));
  cpSync(join(client, 'examples'), folder, { recursive: true });
  pages = await serve(folder);
  house = await startHouse({
    args: ['--no-bridge'],
    variables: { ALLOWED_ORIGINS: pages.origin },
  });
});

afterAll(async () => {
  await house?.[Symbol.asyncDispose]();
  pages?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the example of the client package', () => {
  it('for Node prints an answer, and says why there is none', async () => {
    const { url, token } = house.ready;
    const example = (variables: Record<string, string>) =>
      run(process.execPath, ['node.mjs', 'hello'], { cwd: folder, env: variables });
    const { stdout } = await example({ DRAWBRIDGE_URL: url, DRAWBRIDGE_TOKEN: token });
    expect(stdout).toContain('demo model');
    await expect(example({ DRAWBRIDGE_URL: url })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('UNAUTHENTICATED'),
    });
  });

  it('for Workers streams an answer in workerd', async () => {
    const worker = await startExampleWorker();
    try {
      const response = await fetch(worker.url, { method: 'POST', body: 'hello' });
      expect(await response.text()).toContain('demo model');
    } finally {
      worker.end();
    }
  });

  it.skipIf(NO_CHROMIUM)(`for browsers chats in a page ${NO_CHROMIUM ?? ''}`, async () => {
    const { url, token } = house.ready;
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`${pages.origin}/browser.html`);
      await page.fill('[name=url]', url);
      await page.fill('[name=token]', token);
      await page.click('text=Connect');
      await page.fill('[name=content]', 'hello');
      await page.click('text=Send');
      await page.waitForSelector('#status:has-text("completed")');
      expect(await page.textContent('#conversation')).toContain('demo model');
      await page.fill('[name=content]', 'and again');
      await page.click('text=Send');
      await page.waitForSelector('h2:has-text("You") >> nth=1');
      await page.waitForSelector('#status:has-text("completed")');
    } finally {
      await browser.close();
    }
  });
});

/** Serves the files of a folder as a static host does. */
async function serve(root: string) {
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    try {
      const content = readFileSync(join(root, path));
      response.setHeader('content-type', types[extname(path)] ?? 'text/plain').end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** Bundles the example as wrangler would, and runs it on workerd. */
async function startExampleWorker() {
  await build({
    absWorkingDir: folder,
    entryPoints: ['worker.ts'],
    outfile: join(folder, 'worker.mjs'),
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
  });
  const { url, token } = house.ready;
  const config = `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "main", worker = (
          modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
          bindings = [(name = "DRAWBRIDGE_URL", text = ${JSON.stringify(url)}),
            (name = "DRAWBRIDGE_TOKEN", text = ${JSON.stringify(token)})],
          compatibilityDate = "2026-11-01",
        )),
        (name = "internet", network = (allow = ["public", "private"])),
      ],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
    );`;
  writeFileSync(join(folder, 'worker.capnp'), config);
  const workerd = createRequire(import.meta.url)('workerd').default;
  const child = spawn(workerd, ['serve', '--control-fd=3', 'worker.capnp'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const lines = createInterface({ input: child.stdio[3] as Readable });
  const [line] = (await once(lines, 'line')) as [string];
  const { port } = z.object({ port: z.int() }).parse(JSON.parse(line));
  return { url: `http://127.0.0.1:${port}`, end: () => child.kill('SIGKILL') };
}
