import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { accessibilityFaults, openDevice, PHONE, type WebDevice } from '../browser/web-page.ts';
import { oneHouse } from './one-house.ts';

const FILES = ['src/alpha.ts', 'src/alphabet.ts', 'notes/my alpha.md', 'src/beta.ts', '.env.alpha'];

const one = oneHouse({
  prepare: (workspace) => {
    for (const file of FILES) {
      mkdirSync(dirname(join(workspace, file)), { recursive: true });
      writeFileSync(join(workspace, file), `This is ${file}.\n`);
    }
    mkdirSync(join(workspace, '.claude/commands'), { recursive: true });
    writeFileSync(join(workspace, '.claude/commands/tidy.md'), 'Tidy up $ARGUMENTS.');
  },
});
let browser: Browser;
beforeAll(async () => {
  if (!NO_CHROMIUM) browser = await startBrowser();
});
afterAll(() => browser?.close());

const FIELD = '.composer textarea';
const OPTION = '.offers [role=option]';

/** A device at a new conversation. */
async function opened(options: Parameters<typeof openDevice>[2] = {}): Promise<WebDevice> {
  const { client, ready } = one.house;
  const device = await openDevice(browser, { client, url: ready.url }, options);
  await device.go('#/new');
  await device.page.waitForSelector('[name=bridge]');
  return device;
}

const textOf = ({ page }: WebDevice) => page.inputValue(FIELD);
const chosenIn = ({ page }: WebDevice) => page.textContent(`${OPTION}[aria-selected=true] b`);

async function ends(device: WebDevice): Promise<void> {
  expect(device.faults).toEqual([]);
  await device.context.close();
}

describe.skipIf(NO_CHROMIUM)(`mentions in the page ${NO_CHROMIUM ?? ''}`, () => {
  it('offers files while one types, takes them by keys, and attaches them', async () => {
    const device = await opened();
    const { page } = device;
    await page.focus(FIELD);
    await page.keyboard.type('see @alpha');
    await page.waitForSelector(OPTION);
    const offered = await page.locator(`${OPTION} b`).allTextContents();
    expect([...offered].sort()).toEqual(['notes/my alpha.md', 'src/alpha.ts', 'src/alphabet.ts']);
    expect(await chosenIn(device)).toBe('src/alpha.ts');
    const active = await page.getAttribute(FIELD, 'aria-activedescendant');
    expect(await page.getAttribute(`#${active}`, 'aria-selected')).toBe('true');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('ArrowUp');
    expect(await chosenIn(device)).toBe('notes/my alpha.md');
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(device)).toBe('see @"notes/my alpha.md" ');
    await page.keyboard.type('and @bet');
    await page.waitForSelector(`${OPTION}:has-text("beta")`);
    await page.keyboard.press('Tab');
    await expect.poll(() => textOf(device)).toBe('see @"notes/my alpha.md" and @src/beta.ts ');
    one.answerWith([{ text: 'Read.' }]);
    await page.keyboard.press('Enter');
    await device.sees('Read.');
    expect(JSON.stringify(one.requests()[0])).toContain('This is notes/my alpha.md.');
    await ends(device);
  });

  it('offers the commands of the machine behind a slash, and sends what they stand for', async () => {
    const device = await opened();
    const { page } = device;
    await page.focus(FIELD);
    await page.keyboard.type('/t');
    // The page may not know the machine's commands yet: the next key asks again.
    await expect
      .poll(async () => {
        await page.keyboard.type('i');
        const offered = await page.locator(`${OPTION} b`).allTextContents();
        if (offered.length === 0) await page.keyboard.press('Backspace');
        return offered;
      })
      .toEqual(['/tidy']);
    await page.keyboard.press('Tab');
    await expect.poll(() => textOf(device)).toBe('/tidy ');
    await page.keyboard.type('the docs');
    one.answerWith([{ text: 'Tidied.' }]);
    await page.keyboard.press('Enter');
    await device.sees('Tidied.');
    expect(JSON.stringify(one.requests()[0])).toContain('Tidy up the docs.');
    await ends(device);
  });

  it('offers them in a conversation too, in the middle of a text', async () => {
    const device = await opened();
    const { page } = device;
    one.answerWith(() => ({ text: 'Yes.' }));
    await device.say('hello');
    await device.sees('Yes.');
    await page.focus(FIELD);
    await page.keyboard.type('compare  please');
    for (let left = 0; left < ' please'.length; left++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.type('@beta');
    await page.waitForSelector(OPTION);
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(device)).toBe('compare @src/beta.ts  please');
    await ends(device);
  });

  it('closes by Escape, and Enter sends then', async () => {
    const device = await opened();
    const { page } = device;
    one.answerWith(() => ({ text: 'Hi.' }));
    await page.focus(FIELD);
    await page.keyboard.type('@alp');
    await page.waitForSelector(OPTION);
    await page.keyboard.press('Escape');
    await page.waitForSelector('.offers', { state: 'detached' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.keyboard.type('h');
    await page.keyboard.press('Enter');
    await device.sees('@alph');
    expect(asked.filter((url) => url.includes('/files?'))).toEqual([]);
    await ends(device);
  });

  it('gives up what it asked when the text changes', async () => {
    const device = await opened();
    const { page } = device;
    await page.route('**/files?query=a*', () => {
      // It is never answered.
    });
    await page.focus(FIELD);
    const asking = page.waitForRequest('**/files?query=a*');
    await page.keyboard.type('@a');
    await asking;
    const failed = page.waitForEvent('requestfailed');
    await page.keyboard.press('Backspace');
    expect((await failed).url()).toContain('query=a');
    await page.keyboard.type('bet');
    await page.waitForSelector(`${OPTION}:has-text("beta")`);
    await ends(device);
  });

  it('has commands in the same list, by keys and by a tap', async () => {
    const device = await opened({ viewport: PHONE });
    const { page } = device;
    await page.focus(FIELD);
    await page.keyboard.type('/');
    await page.waitForSelector(OPTION);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.type('p');
    await page.keyboard.press('Enter');
    expect([await textOf(device), await page.inputValue('[name=mode]')]).toEqual(['', 'plan']);
    await page.keyboard.type('/a');
    await page.keyboard.press('ArrowDown');
    expect(await chosenIn(device)).toBe('/ask');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.offers', { state: 'detached' });
    one.answerWith([{ text: 'What?' }]);
    await page.click('.composer button[type=submit]');
    await device.sees('What?');
    await page.focus(FIELD);
    await page.keyboard.type('/inb');
    await page.click(OPTION);
    await expect.poll(() => page.url()).toContain('#/inbox');
    await device.go('#/new');
    await page.fill(FIELD, '@alphab');
    await page.click(OPTION);
    await expect.poll(() => textOf(device)).toBe('@src/alphabet.ts ');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA');
    await ends(device);
  });
});
