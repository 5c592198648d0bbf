import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { serveEmbed } from '../browser/embed-server.ts';
import { accessibilityFaults, ENTER_OF_SAFARI } from '../browser/web-page.ts';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { deviceOf } from './allowing.ts';
import { oneHouse } from './one-house.ts';

const app = await serveEmbed();
const one = oneHouse({
  variables: { ALLOWED_ORIGINS: app.origin },
  prepare: (workspace) => writeFileSync(join(workspace, 'made.txt'), 'old\n'),
  rules: [{ tool: 'write', pattern: '*', decision: 'ask' }],
});
let browser: Browser;
beforeAll(async () => {
  if (!NO_CHROMIUM) browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app[Symbol.asyncDispose]();
});

/** The page of the app, with what its policy and its console have against the element. */
async function openApp() {
  const context = await browser.newContext({ locale: 'en-GB' });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(app.origin);
  await page.waitForFunction('globalThis.embed');
  return {
    page,
    /** Adds an element with these properties; a text of code is put in place of the token. */
    embed: (properties: object, token = JSON.stringify(one.house.ready.token)) =>
      page.evaluate(
        `void embed({ ...${JSON.stringify({ server: one.house.ready.url, ...properties })}, token: ${token} })`,
      ),
    set: (name: string, value: unknown) =>
      page.evaluate(
        `void (document.querySelector('drawbridge-thread').${name} = ${JSON.stringify(value)})`,
      ),
    sees: (text: string | RegExp) => expect.poll(() => shown(page)).toMatch(text),
    say: async (text: string) => {
      await page.fill('textarea', text);
      await page.press('textarea', 'Enter');
    },
    begun: () => page.evaluate<string[]>('begun'),
    faults: async () => [...errors, ...(await page.evaluate<string[]>('faults'))],
    close: () => context.close(),
  };
}

/** The text of all elements. */
async function shown(page: Page): Promise<string> {
  return await page.evaluate(
    `[...document.querySelectorAll('drawbridge-thread')].map(({ shadowRoot }) => shadowRoot.textContent).join(' | ')`,
  );
}

const text = (content: string) => ({ messages: [{ role: 'user' as const, content }] });

describe.skipIf(NO_CHROMIUM)(`<drawbridge-thread> ${NO_CHROMIUM ?? ''}`, () => {
  it('shows what the page shows, under a strict policy, and leaves approvals to devices', async () => {
    const file = { path: 'made.txt', contents: 'made\n' };
    one.answerWith([
      {
        text: '**Bold** and `code`:\n\n```js\nlet x = 1;\n```\n',
        calls: [
          { name: 'run_terminal_cmd', arguments: { command: 'echo printed' } },
          { name: 'read_file', arguments: { target_file: 'made.txt' } },
        ],
      },
      { calls: [{ name: 'write', arguments: file }] },
      { text: 'Written.' },
    ]);
    const { page, embed, say, sees, begun, faults, close } = await openApp();
    await embed({});
    await say('write it');
    await sees('Waits for a yes on another device');
    expect(await page.textContent('.markdown strong')).toBe('Bold');
    expect(await page.textContent('.code code')).toContain('let x = 1;');
    expect(await page.textContent('.output')).toContain('printed');
    expect(await page.locator('button:has-text("Allow"), button:has-text("Reject")').count()).toBe(
      0,
    );
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityFaults(page), colorScheme).toEqual([]);
    }
    const { client } = one.house;
    const question = (await client.listApprovals()).items[0];
    if (!question) throw new Error('nothing waits');
    await client.allowCall(question, deviceOf(one.house));
    await sees('Written.');
    expect(await page.textContent('.diff .added')).toContain('made');
    expect(await page.locator('button:has-text("Fork")').count()).toBe(0);
    expect(await begun()).toEqual([question.conversationId]);
    expect(await page.getAttribute('drawbridge-thread', 'conversation')).toBe(
      question.conversationId,
    );
    const accent = await page.evaluate(
      "getComputedStyle(document.querySelector('drawbridge-thread').shadowRoot.querySelector('button.main')).backgroundColor",
    );
    expect(accent).toBe('rgb(85, 26, 139)');
    expect(await faults()).toEqual([]);
    await close();
  });

  it('streams, stops and asks', async () => {
    const words = Array.from({ length: 60 }, (_, index) => `Word ${index}.`).join(' ');
    const option = (id: string, label: string) => ({ id, label });
    const question = {
      id: 'q',
      prompt: 'Which?',
      options: [option('r', 'Red'), option('g', 'Green')],
    };
    one.answerWith([
      { text: words, delayMs: 60 },
      { calls: [{ name: 'ask_question', arguments: { title: 'Colour', questions: [question] } }] },
      { text: 'Thank you.' },
    ]);
    const { page, embed, say, sees, faults, close } = await openApp();
    await embed({});
    await say('count');
    await sees('Word 3.');
    await page.click('button:has-text("Stop")');
    await sees('Stopped');
    await say('ask me');
    await page.check('label:has-text("Green") input');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('button:has-text("Answer")');
    await sees('Which? Green');
    await sees('Thank you.');
    expect(await faults()).toEqual([]);
    await close();
  });

  it('keeps the users of an app apart, moves to another conversation, and ends its stream when it goes', async () => {
    one.answerWith(() => ({ text: 'Hello.' }));
    const keys = (...args: string[]) =>
      runDrawbridge(['keys', ...args, '--state', one.house.state]);
    const made = await keys('create', 'shop', '--origins', app.origin, '--can', 'chat,read');
    const tokenOf = async (user: string) => {
      const answer = await fetch(`${one.house.ready.url}/api/v1/tokens`, {
        method: 'POST',
        headers: { authorization: `Bearer ${made.stdout.trim()}` },
        body: JSON.stringify({ user }),
      });
      return JSON.stringify(((await answer.json()) as { token: string }).token);
    };
    const { page, embed, sees, set, begun, faults, close } = await openApp();
    let open = 0;
    page.on('websocket', (socket) => {
      open++;
      socket.on('close', () => open--);
    });
    const [ana, ben] = [await tokenOf('ana'), await tokenOf('ben')];
    await embed({ id: 'ana' }, ana);
    await embed({ id: 'ben' }, ben);
    for (const user of ['ana', 'ben']) {
      await page.fill(`#${user} textarea`, `from ${user}`);
      await page.click(`#${user} button:has-text("Send")`);
      await expect.poll(() => page.textContent(`#${user} .messages`)).toContain('Hello.');
    }
    await expect.poll(() => open).toBe(2);
    const [first = ''] = await begun();
    await page.evaluate(`ben.conversation = ${JSON.stringify(first)}`);
    await expect.poll(() => page.textContent('#ben [role=alert]')).toContain('is not there');
    await page.click('#ben button:has-text("New conversation")');
    await page.fill('#ben textarea', 'a second one');
    await page.press('#ben textarea', 'Enter');
    await expect.poll(() => page.textContent('#ben .messages')).toContain('a second one');
    expect(await page.textContent('#ben .messages')).not.toContain('ana');
    await page.evaluate(`ben.conversation = ${JSON.stringify((await begun())[1])}`);
    await expect.poll(() => page.textContent('#ben .messages')).toContain('from ben');
    await page.evaluate('ana.remove(); ben.remove()');
    await expect.poll(() => open).toBe(0);
    await embed({}, ana);
    await set('conversation', first);
    await sees('from ana');
    expect(await faults()).toEqual([]);
    await close();
  });

  it('says what is wrong, and goes on when it is right', async () => {
    one.answerWith(() => ({ text: 'Hello.' }));
    const { conversationId } = await one.house.client.sendMessage(text('from elsewhere'));
    const { page, embed, set, say, sees, faults, close } = await openApp();
    await embed({ conversation: conversationId }, 'undefined');
    await sees('needs its properties `server` and `token`');
    await set('token', 'wrong');
    await sees(/token/i);
    await page.click('button:has-text("Try again")');
    await page.waitForSelector('button:has-text("Try again")');
    expect(await accessibilityFaults(page)).toEqual([]);
    await set('token', one.house.ready.token);
    await sees('from elsewhere');
    await set('server', 'http://127.0.0.1:9');
    await sees('Connection lost');
    await set('conversation', null);
    await say('into the void');
    await sees('Not sent yet');
    await page.evaluate(`document.querySelector('drawbridge-thread').token = async () => {
      throw new Error('Sign in first.');
    }`);
    await sees('Sign in first.');
    await set('server', one.house.ready.url);
    await set('conversation', conversationId);
    await set('token', one.house.ready.token);
    await sees('from elsewhere');
    expect(await shown(page)).not.toContain('Sign in first.');
    for (const wrong of ['../me', '..', 'conv_missing']) {
      await set('conversation', wrong);
      await sees('is not there');
    }
    expect(await faults()).toEqual([]);
    await close();
  });

  it('gives back what the token may not send', async () => {
    const made = await runDrawbridge([
      ...['keys', 'create', 'viewer', '--origins', app.origin, '--can', 'read'],
      ...['--state', one.house.state],
    ]);
    const token = await fetch(`${one.house.ready.url}/api/v1/tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.stdout.trim()}` },
      body: JSON.stringify({ user: '1' }),
    });
    const { page, embed, say, faults, close } = await openApp();
    await embed({}, JSON.stringify(((await token.json()) as { token: string }).token));
    await page.fill('textarea', 'may');
    await page.evaluate(ENTER_OF_SAFARI);
    expect(await page.inputValue('textarea')).toBe('may');
    await say('may I?');
    await page.waitForSelector('[role=alert]:has-text("chat")');
    expect(await page.inputValue('textarea')).toBe('may I?');
    expect(await faults()).toEqual([]);
    await close();
  });

  it('speaks the language of the page', async () => {
    const { page, embed, sees, faults, close } = await openApp();
    await page.evaluate("document.documentElement.lang = 'de-CH'");
    await embed({ conversation: 'conv_missing' });
    await sees('Diese Unterhaltung gibt es nicht');
    expect(await faults()).toEqual([]);
    await close();
  });
});
