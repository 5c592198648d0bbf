/** A person of a server elsewhere, with a passkey in their browser: it signs them in, and approves calls of their machine. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import { accessibilityFaults, LAPTOP, PATIENCE_MS, PHONE } from '../browser/web-page.ts';
import { oneHouse } from './one-house.ts';
import { invitation, newMachine, signInWith } from './other-machine.ts';

const one = oneHouse({ args: ['--no-bridge'] });
let browser: Browser;
beforeAll(async () => {
  if (!NO_CHROMIUM) browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Passkeys belong to a name, and never to an address such as 127.0.0.1. */
const byName = (link: string) => link.replace('127.0.0.1', 'localhost');

/** A browser whose authenticator answers at once, as if its person always touched it. */
async function openBrowser(viewport = LAPTOP) {
  const context = await browser.newContext({ viewport, locale: 'en-GB' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const touch = (isUserVerified: boolean) =>
    cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  return { context, page, touch };
}

/** Playwright scrolls to what it clicks, and a button that has moved takes no click for a while: this one waits for it. */
async function press(page: Page, text: string): Promise<void> {
  const pressed = () =>
    page.evaluate(`(() => {
      const buttons = [...document.querySelectorAll('.ask button:enabled')];
      const button = buttons.find(({ textContent }) => textContent === ${JSON.stringify(text)});
      button?.click();
      return button !== undefined;
    })()`);
  await expect.poll(pressed, { timeout: PATIENCE_MS }).toBe(true);
}

/** The names under which the browser keeps something for this page. */
async function keptIn(page: Page): Promise<unknown> {
  return await page.evaluate(`new Promise((resolve) => {
    indexedDB.open('drawbridge').onsuccess = ({ target: { result } }) => {
      const all = result.transaction('kept').objectStore('kept').getAllKeys();
      all.onsuccess = () => resolve(all.result);
    };
  })`);
}

async function openSettings(page: Page): Promise<void> {
  await page.evaluate("location.hash = '#/settings'");
  await page.waitForSelector('.settings');
}

describe.skipIf(NO_CHROMIUM)(`a passkey ${NO_CHROMIUM ?? ''}`, () => {
  it('signs its person in, in place of another device, until it is removed', async () => {
    const { context, page, touch } = await openBrowser();
    await page.goto(byName(await invitation(one.house, 'ana')));
    await page.waitForSelector('.frame');
    await openSettings(page);
    await page.click('text=Add a passkey');
    await page.waitForSelector('.rows li:has-text("made")');
    await page.click('text=Add a passkey');
    await page.waitForSelector('[role=alert]:has-text("has a passkey of this account already")');
    page.on('dialog', (dialog) => void dialog.accept());
    const signOut = async () => {
      await openSettings(page);
      await page.click('.settings button:has-text("Sign out"):last-of-type >> nth=-1');
      await page.waitForSelector('.sign-in');
    };
    await signOut();
    expect(await accessibilityFaults(page)).toEqual([]);
    await touch(false);
    await page.click('text=Sign in with a passkey');
    await page.waitForSelector('[role=alert]:has-text("No passkey answered")');
    await touch(true);
    await page.click('text=Sign in with a passkey');
    await page.waitForSelector('.frame');
    await openSettings(page);
    await page.click('.rows li:has-text("last used"):has(button:has-text("Revoke")) button');
    await page.waitForSelector('.rows li:has(button:has-text("Revoke"))', { state: 'detached' });
    await signOut();
    await page.click('text=Sign in with a passkey');
    await page.waitForSelector('[role=alert]:has-text("was removed")');
    await context.close();
  });

  it('approves one call of a machine at a time, after its link was opened', async () => {
    const command = 'echo by-passkey > made.txt';
    const call = { calls: [{ name: 'run_terminal_cmd', arguments: { command } }] };
    one.answerWith([call, { text: 'First.' }, call, { text: 'Second.' }]);
    const machine = newMachine({ DRAWBRIDGE_PRESET: 'ask', DISPLAY: '', WAYLAND_DISPLAY: '' });
    const folder = machine.folder('project');
    const server = byName(one.house.ready.url);
    await signInWith(machine, byName(await invitation(one.house, 'ben')));
    const started = await machine.run(['start', '--to', server, '--port', '0'], folder);
    expect(started).toMatchObject({ code: 0 });
    try {
      const opened = await machine.run(['open', '--passkey'], folder);
      expect(opened).toMatchObject({ code: 0, stderr: expect.stringContaining('one at a') });
      const { context, page, touch } = await openBrowser();
      await page.goto(server);
      await page.waitForSelector('.sign-in');
      await page.goto(opened.stdout.trim()); // Only the fragment changes.
      await page.fill('.composer textarea', 'make it');
      await page.click('.composer button[type=submit]');
      await page.waitForSelector('.ask:has-text("it can only reject")');
      await page.click('text=Make a passkey');
      await page.waitForSelector('[role=status]:has-text("can approve by its passkey")');
      expect(page.url()).not.toContain('passkey');
      const allow = 'Allow once by passkey';
      await page.waitForSelector(`.ask button:has-text("${allow}")`);
      expect(
        await page.locator('.ask button:not(:text-matches("by passkey|Reject"))').count(),
      ).toBe(0);
      expect(await accessibilityFaults(page)).toEqual([]);
      await touch(false);
      await press(page, allow);
      await page.waitForSelector('[role=alert]:has-text("No passkey answered")');
      expect(existsSync(join(folder, 'made.txt'))).toBe(false);
      await touch(true);
      await press(page, allow);
      await page.waitForSelector('text=First.');
      expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('by-passkey\n');
      const { stdout } = await machine.run(['devices'], folder);
      expect(stdout).toContain(`passkey of ${server}`);
      const [id = ''] = /device_[\w-]+(?=.*passkey)/.exec(stdout) ?? [];
      expect(await machine.run(['devices', 'revoke', id], folder)).toMatchObject({ code: 0 });
      await page.fill('.composer textarea', 'make it again');
      await page.click('.composer button[type=submit]');
      await press(page, allow);
      await page.waitForSelector('[role=alert]:has-text("is not enrolled at this bridge")');
      await press(page, 'Reject');
      await page.waitForSelector('text=Second.');
      await context.close();
    } finally {
      await machine.run(['stop']);
    }
  });

  it('is offered on a phone, and to nobody who signs in after its person, in the same tab or in another one', async () => {
    const { context, page } = await openBrowser(PHONE);
    const second = await context.newPage();
    page.on('dialog', (dialog) => void dialog.accept());
    await second.goto(byName(one.house.ready.url));
    await second.waitForSelector('.sign-in');
    const forPasskey = `&passkey=bridge_${crypto.randomUUID()}.${'x'.repeat(43)}`;
    await page.goto(byName((await invitation(one.house, 'dora')) + forPasskey));
    await page.bringToFront(); // Authenticators answer no page behind another one.
    await page.click('text=Make a passkey');
    await page.waitForSelector('[role=alert]'); // There is no such machine.
    expect(await keptIn(page)).toContain('passkey');
    await second.fill('input[name=link]', await invitation(one.house, 'eve'));
    await second.click('button:text-is("Sign in")');
    await second.waitForSelector('.frame');
    expect(await keptIn(page)).not.toContain('passkey');
    await openSettings(page);
    await page.click('.settings button:has-text("Sign out"):last-of-type >> nth=-1');
    await page.waitForSelector('.frame');
    await page.waitForSelector('text=Make a passkey', { state: 'detached' });
    await context.close();
  });

  it('is offered only where the folder is connected to a server elsewhere with https', async () => {
    const machine = newMachine();
    const folder = machine.folder('project');
    await signInWith(machine, await invitation(one.house, 'cleo'));
    await machine.run(['start', '--to', one.house.ready.url, '--port', '0'], folder);
    try {
      expect(await machine.run(['open', '--passkey'], folder)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('need an address with https'),
      });
      expect((await machine.run(['invitations'], folder)).stdout).toBe('');
    } finally {
      await machine.run(['stop']);
    }
  });
});
