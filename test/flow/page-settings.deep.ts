import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { accessibilityFaults, openDevice, PHONE } from '../browser/web-page.ts';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { startHttpMcpServer } from '../far-ends/mcp-http-server.ts';
import { startOAuthServer } from '../far-ends/oauth-server.ts';
import { oneHouse } from './one-house.ts';

const HOSTILE = '<img src=x> \u202elive \u001b[31mred';
/** As the page shows it. */
const SHOWN = String.raw`<img src=x> \u{202e}live \u{1b}[31mred`;
const MODELS = [
  {
    id: 'scripted',
    contextWindow: 128_000,
    isPrivate: true,
    prices: { input: 1.25, output: 10, currency: 'EUR' },
  },
  { id: 'small', roles: ['fast', 'summary'], takesImages: false },
  { id: 'other', roles: ['chat', 'fast'] },
];

const one = oneHouse({
  isOfBridge: true, // Root could start no MCP server else.
  variables: { MODELS: JSON.stringify(MODELS) },
  rules: [{ tool: 'command', pattern: HOSTILE, decision: 'deny' }],
  prepare: (workspace) => {
    const files = {
      'AGENTS.md': 'Be kind.',
      '.cursor/rules/<b>\u202e.mdc': 'Be quick.',
      '.cursor/rules/forms.mdc': '---\nglobs: forms/**\n---\nBe tidy.',
      '.cursor/rules/binary.mdc': 'a\0b',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(workspace, path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    }
  },
});
let browser: Browser;
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  if (NO_CHROMIUM) return;
  browser = await startBrowser();
  const oauth = await startOAuthServer();
  const far = await startHttpMcpServer(0, oauth);
  ends.push(() => browser.close(), far.close, oauth.close);
  const program = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [join(import.meta.dirname, '../far-ends', name), ...args],
  });
  const mcpServers = {
    demo: program('mcp-server.ts'),
    nice: program('bad-mcp-server.ts', 'hides'),
    idle: { ...program('mcp-server.ts'), disabled: true },
    far: { url: far.url },
    gone: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
  };
  put('mcp.json', { mcpServers });
});
afterAll(async () => {
  for (const end of ends) await end();
});

/** A file of the owner. */
function put(name: string, content: unknown): void {
  writeFileSync(join(one.house.state, name), JSON.stringify(content));
}

async function drawbridge(...args: string[]): Promise<void> {
  const { workspace, state } = one.house;
  const place = ['--workspace', workspace, '--state', state];
  expect((await runDrawbridge([...args, ...place])).code).toBe(0);
}

const open = (options: Parameters<typeof openDevice>[2] = {}) =>
  openDevice(browser, { client: one.house.client, url: one.house.ready.url }, options);

const MACHINE = '.settings details:has(> summary > .on)';

/** Opens the machine in the settings, and returns the states of its servers. */
async function openMachine(page: Page): Promise<readonly string[]> {
  await page.reload(); // Nothing is open at first.
  await page.click(`${MACHINE} > summary`);
  await page.waitForSelector('.policy > .rows summary, .policy > p:has-text("mcp add")');
  return await page.locator('.policy > .rows summary > :last-child').allTextContents();
}

describe.skipIf(NO_CHROMIUM)(`the settings of the page ${NO_CHROMIUM ?? ''}`, () => {
  it('show models, servers with tools, rules and grants, on a phone and as plain text', async () => {
    await drawbridge('allow', '<i>ben', '--preset', 'trusted', '--worktrees');
    const device = await open({ viewport: PHONE });
    const { page } = device;
    await device.go('#/settings');
    // Those that do not run are started again and again.
    const states = ['ready · 15 tools', 'ready · 1 tool', 'off', 'needs a login', 'down'];
    await expect.poll(() => openMachine(page), { timeout: 60_000 }).toEqual(states);
    const server = (name: string) => `.policy .rows > li:has(summary:has-text("MCP ${name}"))`;
    await page.click(`${server('nice')} summary`);
    await page.click(`${server('demo')} summary`);
    const says = (name: string, text: string) =>
      expect.poll(() => page.textContent(server(name))).toContain(text);
    await says('nice', String.raw`<b>Harmless</b> \u{202e}evil \u{1b}[31mred`);
    await says('demo', 'Says it again.');
    await says('far', 'drawbridge mcp login far');
    await says('gone', 'it ended with exit code 3');
    await page.click('summary:has-text("What it allows")');
    await page.waitForSelector('text=Preset workspace');
    const policy = page.locator('.policy .policy');
    const text = await policy.textContent();
    for (const part of [`command ${SHOWN}`, 'deny', 'this project', '<i>ben', 'worktrees']) {
      expect(text).toContain(part);
    }
    expect(await policy.locator('button, input, select, img').count()).toBe(0);
    const models = await page.textContent('.settings');
    expect(models).toMatch(/scripted.*Default model.*private.*128k.*1\.25 \/ 10 EUR/s);
    expect(models).toContain('small');
    expect(await accessibilityFaults(page)).toEqual([]);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(PHONE.width);
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('lists the models of a table that a person can choose for a message', async () => {
    const device = await open();
    await device.go('#/new');
    const offered = device.page.locator('.composer [name=model] option');
    await expect
      .poll(() => offered.allTextContents())
      .toEqual(['Default model', 'scripted', 'other']);
    await device.context.close();
  });

  it('read the files anew, and say which one is wrong', async () => {
    const device = await open({ locale: 'de-AT' });
    const { page } = device;
    await device.go('#/settings');
    await openMachine(page);
    const fold = page.locator('summary:has-text("Was er erlaubt")');
    put('policy.json', { rules: 'none' });
    await fold.click();
    await page.waitForSelector('[role=alert]:has-text("policy.json is not a file of rules")');
    await page.waitForSelector('text=Dort läuft kein Aufruf');
    await fold.click();
    put('policy.json', { preset: 'ask' });
    await fold.click();
    await page.waitForSelector('text=Voreinstellung ask');
    await page.waitForSelector('text=Du hast keine eigene Regel.');
    await device.context.close();
  });

  it('say what to do where a machine tells nothing, and try again', async () => {
    const device = await open();
    const { page } = device;
    let asked = 0;
    await page.route('**/policy', (route) => {
      if (asked++ > 0) return route.continue();
      const error = { code: 'UNAVAILABLE', message: 'The bridge is older' };
      return route.fulfill({ status: 503, json: { error } });
    });
    await device.go('#/settings');
    await openMachine(page);
    await page.click('summary:has-text("What it allows")');
    const alert = page.locator('.policy [role=alert]');
    await expect.poll(() => alert.textContent()).toMatch(/is older.*update it/);
    expect(await accessibilityFaults(page)).toEqual([]);
    await alert.locator('button').click();
    await page.waitForSelector('text=Preset');
    await device.context.close();
  });

  it('the thread shows the rules that its newest answer had', async () => {
    const device = await open({ viewport: PHONE });
    const { page } = device;
    one.answerWith(() => ({ text: 'Kindly.' }));
    await device.go('#/new');
    await device.say('hello');
    await device.sees('Kindly.');
    await page.click('.bar summary');
    const row = (path: string) => page.locator(`.bar li:has-text(${JSON.stringify(path)})`);
    await expect.poll(() => row('AGENTS.md').textContent()).toContain('always applies');
    expect(await row('forms.mdc').textContent()).toContain('no file that it is about');
    expect(await row('binary.mdc').textContent()).toContain('left out');
    expect(await page.textContent('.bar ul')).toContain(String.raw`<b>\u{202e}.mdc`);
    expect(await accessibilityFaults(page)).toEqual([]);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(PHONE.width);
    expect(device.faults).toEqual([]);
    await device.context.close();
  });

  it('say that they could not be loaded without a network, and open after a reload', async () => {
    const { page, context, faults, go } = await open();
    await context.setOffline(true);
    await go('#/settings');
    await page.waitForSelector('.place [role=alert]:has-text("could not be loaded")');
    await context.setOffline(false);
    await page.reload();
    await page.waitForSelector('.settings');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('say that a machine is offline, and that it shows its rules once it is back', async () => {
    const device = await open();
    await device.go('#/settings');
    await drawbridge('disconnect');
    await device.page.click('.settings details:has(> summary > .off) > summary');
    await device.page.waitForSelector('text=Its rules are shown while it is online.');
    expect(device.faults).toEqual([]);
    await device.context.close();
  });
});
