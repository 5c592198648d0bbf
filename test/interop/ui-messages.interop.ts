import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import type { PageServer } from '../browser/page-server.ts';
import type { ScriptedRequest } from '../far-ends/reply-script.ts';
import {
  type ScriptedAnswer,
  type ScriptedModel,
  startScriptedModel,
} from '../far-ends/scripted-model.ts';
import { deviceOf } from '../flow/allowing.ts';
import { type House, startHouse, until } from '../flow/house.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { serveForeignPage } from './foreign-page.ts';
import { row } from './table.ts';

const VERSION = '4.0.177';
const PACKAGES = [`@ai-sdk/react@${VERSION}`, 'react@19.2.1', 'react-dom@19.2.1'];

const WORDS = Array.from({ length: 150 }, (_, word) => `word${word}`).join(' ');

/** What an app with `useChat` gets with nothing but an address and a token. */
const stated = row({
  suite: 'useChat (@ai-sdk/react)',
  version: VERSION,
  notRun: NO_REGISTRY ?? NO_CHROMIUM,
});

describe('useChat', stated, () => {
  let packages: ForeignPackages;
  let model: ScriptedModel;
  let script: (request: ScriptedRequest) => ScriptedAnswer;
  let server: PageServer;
  let house: House;
  let browser: Browser;

  beforeAll(async () => {
    packages = await installPackages(PACKAGES);
    model = await startScriptedModel((request) => script(request));
    server = await serveForeignPage('ui-page.js', packages.folder);
    house = await startHouse({
      modelUrl: model.baseUrl,
      rules: [{ tool: 'run_terminal_cmd', pattern: '*', decision: 'ask' }],
      variables: { ALLOWED_ORIGINS: server.origin },
    });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await house?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await model?.close();
    await packages?.[Symbol.asyncDispose]();
  });

  async function openChat(over: string): Promise<Page> {
    const page = await browser.newPage();
    const { url, token } = house.ready;
    const query = new URLSearchParams({ url, token, over, id: crypto.randomUUID() });
    await page.goto(`${server.origin}/?${query}`);
    return page;
  }

  async function send(page: Page, text: string): Promise<void> {
    await page.fill('input', text);
    await page.click('text=Send');
  }

  const answer = (page: Page) => page.locator('.assistant').last();
  const waitForStatus = (page: Page, status: string) =>
    page.waitForSelector(`main[data-status=${status}]`);

  /** Waits for the words of an answer that goes on. */
  async function untilSaid(page: Page, word: string): Promise<void> {
    await page.waitForSelector(`.assistant p:has-text("${word}")`);
  }

  describe.each(['http', 'socket'])('over %s', (over) => {
    it('shows an answer, and another one in its place', async () => {
      script = ({ messages }) => ({ text: `Heard ${messages.length - 1}.` });
      const page = await openChat(over);
      await send(page, 'one');
      await untilSaid(page, 'Heard 1.');
      await waitForStatus(page, 'ready');
      await send(page, 'two');
      await untilSaid(page, 'Heard 3.');
      await waitForStatus(page, 'ready');
      script = () => ({ text: 'Heard again.' });
      await page.click('text=Again');
      await untilSaid(page, 'Heard again.');
      await waitForStatus(page, 'ready');
      expect(await page.locator('article').count()).toBe(4);
    });

    it('goes on with the answer when the page is loaded again in the middle of it', async () => {
      script = () => ({ text: WORDS, delayMs: 50 });
      const page = await openChat(over);
      await send(page, 'say a lot');
      await untilSaid(page, 'word9 ');
      await page.reload();
      await untilSaid(page, 'word149');
      await waitForStatus(page, 'ready');
      expect(await answer(page).textContent()).toBe(WORDS);
      expect(await page.locator('article').count()).toBe(2);
    });

    it('stops the run, and writes on', async () => {
      script = () => ({ text: WORDS.repeat(20), delayMs: 50 });
      const page = await openChat(over);
      const aborted = model.aborted();
      await send(page, 'say a lot');
      await untilSaid(page, 'word9 ');
      await page.click('text=Stop');
      await until(() => model.aborted() > aborted);
      script = ({ messages }) => ({
        text: `Known: ${JSON.stringify(messages).includes('word9')}.`,
      });
      await send(page, 'and now');
      await untilSaid(page, 'Known: true.');
    });

    it('shows what is asked, rejects it, and goes on when a device says yes', async () => {
      script = ({ messages }) => {
        const results = messages.filter(({ role }) => role === 'tool').length;
        if (results === 2) return { text: 'Over.' };
        const command = `touch ${over}-${results}.txt`;
        return { calls: [{ name: 'run_terminal_cmd', arguments: { command } }] };
      };
      const page = await openChat(over);
      await send(page, 'touch it');
      await page.click(`.terminal_command:has-text("touch ${over}-0.txt") >> text=Reject`);
      await page.waitForSelector('code:has-text("run_terminal_cmd output-error")');
      await page.waitForSelector(`.terminal_command:has-text("touch ${over}-1.txt")`);
      const { items } = await house.client.listApprovals();
      for (const asked of items) await house.client.allowCall(asked, deviceOf(house));
      await untilSaid(page, 'Over.');
      await page.waitForSelector('code:has-text("run_terminal_cmd output-available")');
      expect(await page.locator('.error').count()).toBe(1);
    });
  });
});
