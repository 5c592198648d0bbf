import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import backend from '../../client/examples/app.ts';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { accessibilityFaults } from '../browser/web-page.ts';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { type House, startHouse } from './house.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The folder of the app's developer, who has installed the client and copied its example. */
let folder: string;
let house: House;
let app: { readonly origin: string; secret: string; close(): void };

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'drawbridge-app-'));
  const installed = join(folder, 'node_modules', 'drawbridge-client');
  mkdirSync(installed, { recursive: true });
  const build = join(ROOT, 'build', 'client.ts');
  await promisify(execFile)(process.execPath, [build, join(installed, 'dist')]);
  cpSync(join(ROOT, 'client', 'examples'), folder, { recursive: true });
  house = await startHouse({ args: ['--no-bridge'] });
  app = await serveApp();
});

afterAll(async () => {
  await house?.[Symbol.asyncDispose]();
  app?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the example of a web app', () => {
  it.skipIf(NO_CHROMIUM)(
    `lets two users chat, who see nothing of each other ${NO_CHROMIUM ?? ''}`,
    async () => {
      const made = await keys('create', 'shop', '--origins', app.origin, '--runs-per-minute', '2');
      expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('Keep this secret') });
      app.secret = made.stdout.trim();
      const browser = await startBrowser();
      try {
        const pageOf = async (user: string) => {
          const context = await browser.newContext();
          await context.addCookies([{ name: 'session', value: user, url: app.origin }]);
          const page = await context.newPage();
          await page.route('**/agent-token', async (route) => {
            await sleep(2_000); // Nobody can ask before the page has a token.
            await route.continue();
          });
          await page.goto(`${app.origin}/app.html`);
          const ask = async (content: string) => {
            await page.fill('[name=content]', content);
            await page.click('text=Ask');
          };
          return { page, ask };
        };
        const [ana, ben] = [await pageOf('ana'), await pageOf('ben')];
        await ana.ask('hello from ana');
        await ana.page.waitForSelector('#status:has-text("done")');
        expect(await ana.page.textContent('#answer')).toContain('demo model');
        await ana.page.waitForSelector('li:has-text("hello from ana")');
        await ben.ask('hello from ben');
        await ben.page.waitForSelector('li:has-text("hello from ben")');
        await ben.page.reload();
        await ben.page.waitForSelector('li:has-text("hello from ben")');
        expect(await ben.page.textContent('#conversations')).not.toContain('ana');

        await ana.ask('a second one');
        await ana.page.waitForSelector('li:has-text("a second one")');
        await ana.ask('a third one');
        await ana.page.waitForSelector('#status:has-text("RATE_LIMITED")');

        expect((await keys('delete', 'shop')).code).toBe(0);
        await expect
          .poll(async () => {
            await ben.ask('still there?');
            return await ben.page.textContent('#status');
          })
          // The browser hides the refusal: the page's origin counts no more.
          .toContain('UNREACHABLE');
      } finally {
        await browser.close();
      }
    },
  );

  it.skipIf(NO_CHROMIUM)(
    `lets two users chat in the element, which goes on after a reload ${NO_CHROMIUM ?? ''}`,
    async () => {
      const made = await keys('create', 'helpdesk', '--origins', app.origin);
      app.secret = made.stdout.trim();
      const browser = await startBrowser();
      try {
        const pageOf = async (user: string) => {
          const context = await browser.newContext();
          await context.addCookies([{ name: 'session', value: user, url: app.origin }]);
          const page = await context.newPage();
          await page.goto(`${app.origin}/embed.html`);
          const sees = (text: string) =>
            expect.poll(() => page.textContent('.messages')).toContain(text);
          await page.fill('textarea', `hello from ${user}`);
          await page.click('button:has-text("Send")');
          await sees('demo model');
          return { page, sees };
        };
        const [ana, ben] = [await pageOf('ana'), await pageOf('ben')];
        await ana.page.reload();
        await ana.sees('hello from ana');
        for (const { page } of [ana, ben]) expect(await accessibilityFaults(page)).toEqual([]);
        const [, conversation = ''] = ana.page.url().split('#');
        await ben.page.goto(`${app.origin}/embed.html#${conversation}`);
        await ben.page.reload();
        await ben.page.waitForSelector('[role=alert]:has-text("is not there")');
        await ben.page.click('button:has-text("New conversation")');
        expect(await ben.page.textContent('main')).not.toContain('ana');
        expect((await keys('delete', 'helpdesk')).code).toBe(0);
      } finally {
        await browser.close();
      }
    },
  );

  it('gives a visitor without a session no token', async () => {
    const answer = await fetch(`${app.origin}/agent-token`, { method: 'POST' });
    expect(answer.status).toBe(401);
  });
});

it('keys are listed, changed and renewed, also by the address and the secret file of a server', async () => {
  const secretFile = join(folder, 'secret');
  cpSync(join(house.state, 'auth-secret'), secretFile);
  const at = ['--url', house.ready.url, '--secret-file', secretFile];
  const elsewhere = (...args: string[]) => runDrawbridge(['keys', ...args, ...at]);
  const made = await elsewhere('create', 'other', '--max-turns', '3', '--can', 'read');
  expect(made.stdout).toMatch(/^dbk_other_[\w-]{43}\n$/);
  expect((await elsewhere('change', 'other', '--tokens-per-day', '1000')).code).toBe(0);
  const { stdout } = await keys('list', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    id: 'other',
    can: ['read'],
    budget: { maxTurns: 3 },
    tokensPerDay: 1_000,
  });
  expect(stdout).not.toContain(made.stdout.trim());
  expect(await elsewhere('renew', 'other')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no terminal to ask at'),
  });
  expect(await elsewhere('create', 'other')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('KEY_EXISTS'),
  });
  expect(await elsewhere('create', 'Bad Name')).toMatchObject({ code: 2 });
  expect(await elsewhere('change', 'missing')).toMatchObject({ code: 2 });
  expect(await elsewhere('create', 'x', '--can', 'everything')).toMatchObject({ code: 2 });
  writeFileSync(secretFile, 'ab'.repeat(32));
  expect(await elsewhere('list')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('UNAUTHENTICATED'),
  });
});

function keys(...args: string[]) {
  return runDrawbridge(['keys', ...args, '--workspace', house.workspace, '--state', house.state]);
}

/** The backend of the example, and beside it its files, as a static host serves them. */
async function serveApp() {
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };
  const served = { secret: '' };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    if (pathname === '/agent-token') {
      const headers = { cookie: request.headers.cookie ?? '' };
      const env = { DRAWBRIDGE_URL: house.ready.url, APP_SECRET: served.secret };
      const answer = await backend.request(pathname, { method: 'POST', headers }, env);
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      return void response.end(await answer.text());
    }
    try {
      const content = readFileSync(join(folder, pathname));
      response.setHeader('content-type', types[extname(pathname)] ?? 'text/plain').end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(served, {
    origin: `http://127.0.0.1:${port}`,
    close: () => void server.close(),
  });
}
