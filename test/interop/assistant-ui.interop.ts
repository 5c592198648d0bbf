import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import type { PageServer } from '../browser/page-server.ts';
import { type ScriptedModel, startScriptedModel } from '../far-ends/scripted-model.ts';
import { type House, startHouse } from '../flow/house.ts';
import { answerOf, asCall, hasPicture, pictureFile, requestsWith } from './foreign-agents.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { serveForeignPage } from './foreign-page.ts';
import { row } from './table.ts';

const VERSION = '0.15.22';
const PACKAGES = [
  `@assistant-ui/react@${VERSION}`,
  '@assistant-ui/react-ai-sdk@1.4.12',
  '@ai-sdk/react@4.0.177',
  'ai@7.0.173',
  'react@19.2.1',
  'react-dom@19.2.1',
];

const WORDS = Array.from({ length: 150 }, (_, word) => `word${word}`).join(' ');

const ROW = row({ suite: 'assistant-ui', version: VERSION, notRun: NO_CHROMIUM ?? NO_REGISTRY });

describe('an app with assistant-ui and a tool of its page', ROW, () => {
  let packages: ForeignPackages;
  let model: ScriptedModel;
  let server: PageServer;
  let house: House;
  let browser: Browser;

  beforeAll(async () => {
    packages = await installPackages(PACKAGES);
    model = await startScriptedModel((request) => {
      const isLong = /Count\.|shown: much/.test(JSON.stringify(request.messages.at(-1)));
      return isLong ? { text: WORDS, delayMs: 50 } : answerOf(request);
    });
    server = await serveForeignPage('assistant-page.js', packages.folder);
    house = await startHouse({
      modelUrl: model.baseUrl,
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

  async function openChat(): Promise<Page> {
    const page = await browser.newPage();
    const { url, token } = house.ready;
    await page.goto(
      `${server.origin}/?${new URLSearchParams({ url, token, id: crypto.randomUUID() })}`,
    );
    return page;
  }

  const submit = async (page: Page, words: string) => {
    await page.fill('textarea', words);
    await page.click('button:has-text("Send")');
  };
  const shows = (page: Page, words: string) =>
    page.waitForSelector(`.message >> text=${JSON.stringify(words)}`);
  const cancel = (page: Page) => page.click('button:has-text("Cancel")');
  const map = (place: string) => asCall('show_map', { place });

  /** Sends the message, and waits for the words of its answer. */
  async function say(page: Page, message: string, answer: string): Promise<void> {
    await submit(page, message);
    await shows(page, answer);
  }

  it('works for ten turns, with a picture, and goes on when its page is loaded again', async () => {
    const page = await openChat();
    for (let turn = 1; turn <= 10; turn++) {
      if (turn % 3 === 2) await say(page, map(`place${turn}`), `It said: shown: place${turn}`);
      else await say(page, `Say turn${turn}.`, `Heard turn${turn}.`);
    }
    await page.reload();
    await shows(page, 'It said: shown: place8');
    const choosing = page.waitForEvent('filechooser');
    await page.click('button:has-text("Attach")');
    const file = join(house.folder, 'x.png');
    writeFileSync(file, pictureFile());
    await (await choosing).setFiles(file);
    await say(page, 'Say seen.', 'Heard seen.');
    const seen = requestsWith(model, 'Say seen.').at(-1);
    expect(hasPicture(seen)).toBe(true);
    for (const earlier of ['Say turn1.', 'shown: place2', 'Heard turn10.']) {
      expect(JSON.stringify(seen)).toContain(earlier);
    }
    await say(page, map('Rome'), 'It said: shown: Rome');
    expect(await page.locator('.message').count()).toBe(24);
  });

  it('tells the model why its tool failed', async () => {
    const page = await openChat();
    await say(page, map('nowhere'), 'It said: Error: no such place');
    await say(page, 'Say after.', 'Heard after.');
  });

  // Its composer sends nothing while a run is at work: a person cancels first.
  it('takes a message in the middle of an answer and of a call, behind its cancel', async () => {
    const page = await openChat();
    await submit(page, 'Count.');
    await page.waitForSelector('.message:has-text("word9 ")');
    expect(await page.locator('button:has-text("Send")').isDisabled()).toBe(true);
    await cancel(page);
    await say(page, 'Say meanwhile.', 'Heard meanwhile.');
    expect(JSON.stringify(requestsWith(model, 'Say meanwhile.').at(-1))).toContain('word9 ');

    await submit(page, map('far'));
    await shows(page, 'far running');
    await cancel(page);
    await shows(page, 'far complete');
    await say(page, 'Say instead.', 'Heard instead.');
    expect(JSON.stringify(requestsWith(model, 'Say instead.').at(-1))).toContain('cancelled');
    await say(page, map('Rome'), 'It said: shown: Rome');
  });

  it.each([
    ['an answer', 'Count.', WORDS],
    ['what follows a call', map('much'), `much complete${WORDS}`],
  ])('resumes %s when its page is loaded again in the middle of it', async (_, message, answer) => {
    const page = await openChat();
    await say(page, map('Rome'), 'It said: shown: Rome');
    await submit(page, message);
    await page.waitForSelector('.message:has-text("word9 ")');
    await page.reload();
    await page.waitForSelector('.message:has-text("word149")');
    await page.waitForSelector('output[data-status=ready]');
    expect(await page.locator('.message').last().textContent()).toBe(answer);
    expect(await page.locator('.message').count()).toBe(4);
    await say(page, map('Paris'), 'It said: shown: Paris');
  });

  it('writes on when its page is loaded again in the middle of a call', async () => {
    const page = await openChat();
    await submit(page, map('far'));
    await shows(page, 'far running');
    await page.reload();
    await shows(page, 'far requires-action');
    await say(page, 'Say after.', 'Heard after.');
    await say(page, map('Rome'), 'It said: shown: Rome');
  });
});
