import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readEnrolment } from '../../client/index.ts';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import {
  accessibilityFaults,
  ENTER_OF_SAFARI,
  openDevice,
  PHONE,
  type WebDevice,
} from '../browser/web-page.ts';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { oneHouse } from './one-house.ts';

/** Directions, colours and markup, as a hostile name has them. */
const HOSTILE = 'a\u202egnp.exe \u001b[31mred <img src=x>';

const one = oneHouse({
  rules: [
    { tool: 'write', pattern: '*', decision: 'ask' },
    { tool: 'run_terminal_cmd', pattern: '*', decision: 'allow' },
  ],
  prepare: (workspace) => {
    const folder = join(workspace, '.drawbridge/modes');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'code-review.md'), '---\nbase: ask\n---\nLook for holes.\n');
  },
});
let browser: Browser;
/** May approve; all tests use it one after the other. */
let device: WebDevice;

describe.skipIf(NO_CHROMIUM)(`the page's list, thread and composer ${NO_CHROMIUM ?? ''}`, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  beforeEach(async () => {
    device ??= await enrolled();
  });
  afterAll(async () => {
    expect(device.faults).toEqual([]);
    await browser.close();
  });

  it('the list shows what runs until it ends, under a name that hides nothing', async () => {
    one.answerWith(() => ({ text: 'Word. '.repeat(60), delayMs: 40 }));
    const { client } = one.house;
    const { conversationId } = await client.sendMessage({
      messages: [{ role: 'user', content: HOSTILE }],
    });
    const row = device.page.locator('.list li', { hasText: 'gnp.exe' });
    await row.locator('.running', { hasText: 'Answering' }).waitFor();
    expect(await row.locator('.title').textContent()).toContain(
      'a\\u{202e}gnp.exe \\u{1b}[31mred <img',
    );
    await row.locator('.running').waitFor({ state: 'detached' });
    const again = await client.sendMessage({
      conversationId,
      messages: [{ role: 'user', content: 'more' }],
    });
    await row.locator('.running').waitFor();
    await client.cancel(again.responseId);
    await row.locator('.running').waitFor({ state: 'detached' });
  });

  it('who answered stays in the thread over a reload, and shows in an open inbox', async () => {
    const { page } = device;
    const write = (path: string) => ({
      calls: [{ name: 'write', arguments: { path, contents: 'x\n' } }],
    });
    one.answerWith([write('a.txt'), { text: 'Refused.' }, write('b.txt'), { text: 'Made.' }]);
    const { client } = one.house;
    await device.go('#/inbox');
    const messages = [{ role: 'user' as const, content: 'write twice' }];
    const { conversationId } = await client.sendMessage({ messages });
    await page.waitForSelector('.inbox .ask:has-text("a.txt")');
    const [asked] = (await client.listApprovals()).items;
    if (asked) await client.rejectCall(asked);
    await page.waitForSelector('.inbox [role=status]:has-text("Rejected at a device")');
    await client.sendMessage({ conversationId, messages });
    await page.waitForSelector('.inbox .ask .allow:has-text("This call alone.")');
    await page.click('.inbox .ask summary');
    await page.waitForSelector('.inbox .ask :text("until this conversation ends")');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('.inbox .ask:has-text("b.txt") button:has-text("Allow once")');
    await page.waitForSelector('text=Nothing waits for you.');
    expect(await page.locator('.inbox [role=status] article').count()).toBe(1);
    await device.go(`#/c/${conversationId}`);
    await device.sees('Made.');
    await page.reload();
    for (const text of ['Rejected at a device', 'Allowed once at a device'])
      await page.waitForSelector(`.file_edit .hint:has-text("${text}")`);
  });

  it('on a phone the list’s buttons hold their words, and an empty list says so on top', async () => {
    const { client, ready } = one.house;
    const phone = { viewport: PHONE, hasTouch: true, isMobile: true, locale: 'en-GB' };
    const context = await browser.newContext(phone);
    const page = await context.newPage();
    await page.goto(`${ready.url}/#join=${(await client.createInvitation()).secret}`);
    const archived = page.locator('.find button');
    const beyond = ({ scrollWidth = 0, clientWidth = 0 }: Box) => scrollWidth - clientWidth;
    expect(await archived.evaluate(beyond)).toBe(0);
    await page.fill('.find input', 'nothing has this');
    const hint = page.locator('.side > .hint', { hasText: 'Nothing found.' });
    await hint.waitFor();
    expect((await hint.boundingBox())?.y).toBeLessThan(PHONE.height / 2);
    await context.close();
  });

  it('on a phone what can be tapped looks like it, and nothing is cut or pushed aside', async () => {
    one.answerWith(() => ({ text: 'Word. '.repeat(200), delayMs: 40 }));
    const { client, ready, workspace } = one.house;
    const context = await browser.newContext({ viewport: PHONE, hasTouch: true, isMobile: true });
    const page = await context.newPage();
    await page.goto(`${ready.url}/#join=${(await client.createInvitation()).secret}`);
    await page.waitForSelector('.frame');
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).boundingBox();
      if (!box) throw new Error(`${selector} is not there`);
      return box;
    };
    const borders = await page
      .locator('.top a')
      .evaluateAll((links: readonly Box[]) => links.map(({ clientLeft }) => clientLeft));
    expect(borders).toEqual([1, 1, 1]);
    for (const nth of [0, 1, 2])
      expect((await boxOf(`.top a >> nth=${nth}`)).height).toBeGreaterThanOrEqual(TAPPED_PX);
    await page.click('.top a >> nth=0');
    await page.waitForSelector(`.composer code:has-text("${workspace}")`);
    await page.fill('.composer textarea', 'talk');
    await page.click('.composer button[type=submit]');
    await page.waitForSelector('.text:has-text("Word.")');
    // The title has a row of its own, and the folder with its rules the other one.
    expect((await boxOf('.bar')).height).toBeLessThanOrEqual(2.5 * TAPPED_PX);
    await page.click('.bar summary');
    await page.waitForSelector(`.bar details:has-text("${workspace}")`);
    await page.click('.bar summary');
    await page.fill('.composer textarea', 'and then');
    const rows = new Set<number>();
    for (const name of ['Send now', 'Stop', 'Queue'])
      rows.add((await boxOf(`.sending button:has-text("${name}")`)).y);
    expect(rows.size).toBe(1);
    const buffer = Buffer.from(PNG, 'base64');
    await page.setInputFiles('.attach input', { name: 'a.png', mimeType: 'image/png', buffer });
    const [picture, remove] = [await boxOf('.pictures img'), await boxOf('.pictures button')];
    expect(remove.x).toBeGreaterThanOrEqual(picture.x + picture.width);
    await page.click('.sending button:has-text("Stop")');
    await context.close();
  });

  it('subagents stand folded below their conversation, and stop there and in the thread', async () => {
    const { page } = device;
    const task = (name: string) => ({
      name: 'task',
      arguments: { description: `${name} ${HOSTILE}`, prompt: name, subagent_type: 'explore' },
    });
    one.answerWith(({ messages }) => {
      const said = JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content);
      if (said.includes('look into both') && messages.at(-1)?.role !== 'tool')
        return { calls: [task('first look'), task('second look')] };
      if (/(?:first|second) look/.test(said) && !said.includes('both'))
        return { text: 'Looking. '.repeat(3_000), delayMs: 100 };
      return { text: 'Both ended.' };
    });
    await device.go('#/new');
    await device.say('look into both');
    const tree = page.locator('.list li', { hasText: 'look into both' }).locator('.subagents');
    await tree.locator('summary').click();
    const [second, first] = ['second look', 'first look'].map((name) =>
      tree.locator('li', { hasText: `${name} a\\u{202e}gnp` }),
    );
    await first?.locator('text=Answering').waitFor();
    await first?.locator('button:has-text("Stop")').click();
    await first?.locator('text=Stopped').waitFor();
    const answering = page.locator('.thread span.subagent:has-text("Answering")');
    await expect.poll(() => answering.count()).toBe(1);
    await answering.locator('button:has-text("Stop")').click();
    await second?.locator('text=Stopped').waitFor();
    await device.sees('Both ended.');
    await first?.locator('a').click();
    await page.waitForSelector('.thread .message:has-text("first look") .who:has-text("Agent")');
    expect(await page.locator('.composer textarea').count()).toBe(0);
    expect(await page.locator('.took button').allTextContents()).toEqual(['Copy', 'Fork']);
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.click('.of-subagent a');
    await page.waitForSelector('.bar h1:has-text("look into both")');
    await page.waitForSelector('.composer textarea');
  });

  it('a command that runs on in the background shows what becomes of it', async () => {
    const { page } = device;
    const command = 'until [ -e go ]; do sleep 0.1; done; exit 3';
    const start = { name: 'run_terminal_cmd', arguments: { command, is_background: true } };
    one.answerWith([{ calls: [start] }, { text: 'It runs.' }]);
    await device.go('#/new');
    await device.say('start it');
    await device.sees('It runs.');
    const shown = page.locator('.terminal_command');
    await shown.locator('.running').waitFor();
    writeFileSync(join(one.house.workspace, 'go'), '');
    await shown.locator('.bad', { hasText: 'Exit code 3' }).waitFor();
    await page.reload();
    await shown.locator('.bad', { hasText: 'Exit code 3' }).waitFor();
  });

  it('no machine is called online while this browser is offline', async () => {
    const { page, context } = device;
    await page.waitForSelector('.bar summary:has-text("online")');
    await context.setOffline(true);
    await page.waitForSelector('.bar summary:has-text("unknown while offline")');
    expect(await page.locator('.list .on').count()).toBe(0);
    await context.setOffline(false);
    await page.waitForSelector('.bar summary .on:has-text("online")');
  });

  it('background agents stand together, below what waits for a person, and unfold while one runs', async () => {
    const { page } = device;
    const { client } = one.house;
    const write = { calls: [{ name: 'write', arguments: { path: 'w.txt', contents: 'x\n' } }] };
    one.answerWith([{ text: 'Tidying. '.repeat(60), delayMs: 40 }, write]);
    const agent = await client.createAgent({ prompt: 'tidy up', workspace: 'in_place' });
    const group = page.locator('.list .agents');
    await group.locator('.running, .about', { hasText: 'running' }).waitFor();
    expect(await group.locator('summary').first().textContent()).toBe('Background agents · 1');
    await group.locator('.about', { hasText: 'done' }).waitFor({ state: 'attached' });
    expect(await group.locator('details').getAttribute('open')).toBe(null);
    await client.followUpAgent(agent.id, { prompt: 'write it down' });
    await page.waitForSelector('.list > li:first-child:has-text("tidy up") .badge');
    expect(await group.count()).toBe(0);
    await client.deleteAgent(agent.id);
  });

  it('a preview of an undo stands where it was asked for, and not in the thread', async () => {
    const { page } = device;
    const write = { calls: [{ name: 'write', arguments: { path: 'u.txt', contents: 'x\n' } }] };
    one.answerWith([write, { text: 'Made it.' }]);
    await device.go('#/new');
    await device.say('make a file');
    await page.click('.thread .ask button:has-text("Allow once")');
    await device.sees('Made it.');
    await page.click('.took button:has-text("Undo")');
    // The rule for writing holds for the preview as well, and nothing that asks is hidden.
    await page.waitForSelector('.thread .ask .why:has-text("Let this tool run? preview_undo")');
    await page.click('.thread .ask button:has-text("Allow once")');
    await page.waitForSelector('.undo .code:has-text("-x")');
    expect(await page.textContent('.undo')).toContain('u.txt');
    const exchanges = async () => await page.locator('.exchange').count();
    await expect.poll(exchanges).toBe(1);
    expect(await page.textContent('.messages')).not.toContain('Preview:');
    await page.reload();
    await device.sees('Made it.');
    expect(await exchanges()).toBe(1);
  });

  it('sent images are shown in the message, small and large, also after a reload', async () => {
    const { page } = device;
    one.answerWith(() => ({ text: 'I see.' }));
    await device.go('#/new');
    const buffer = Buffer.from(PNG, 'base64');
    await page.setInputFiles('.attach input', { name: 'a.png', mimeType: 'image/png', buffer });
    await page.waitForSelector('.pictures img');
    await device.say('look at this');
    await device.sees('I see.');
    await page.reload();
    const small = page.locator('.message .images > button img[alt="Image 1 of 1"]');
    await expect
      .poll(() => small.evaluate((image: { naturalWidth?: number }) => image.naturalWidth))
      .toBe(1);
    await small.click();
    await page.waitForSelector('dialog[open] img');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
  });

  it('a message that failed is tried again, and changed, with its images in its mode', async () => {
    const { page } = device;
    one.answerWith([{ status: 401, body: '{}' }, { text: 'Now I see.' }, { text: 'Seen anew.' }]);
    await device.go('#/new');
    const mode = page.locator('.composer [name=mode]');
    await mode.selectOption('ask');
    const buffer = Buffer.from(PNG, 'base64');
    await page.setInputFiles('.attach input', { name: 'a.png', mimeType: 'image/png', buffer });
    await page.waitForSelector('.pictures img');
    await device.say('look once more');
    await page.click('.took button:has-text("Try again")');
    await device.sees('Now I see.');
    await page.click('.exchange:last-of-type .message button:has-text("Edit")');
    await page.fill('.message textarea', 'look closely');
    await page.click('.message form:has(textarea) button[type=submit]');
    await device.sees('Seen anew.');
    const newest = one.requests().map(({ messages }) => messages.at(-1)?.content);
    for (const content of newest) expect(JSON.stringify(content)).toContain('"image_url"');
    expect(JSON.stringify(newest)).toContain('look closely');
    const id = page.url().split('/c/')[1] ?? '';
    const { responses } = await one.house.client.getConversation(id);
    expect(responses.map((response) => response.mode)).toEqual(['ask', 'ask']);
    await mode.selectOption('agent');
  });

  it('the composer offers the modes that the workspace defines, and sends the chosen one', async () => {
    const { page } = device;
    one.answerWith(() => ({ text: 'Reviewed.' }));
    // The server knows them from the last look at the workspace, which each message takes.
    await one.house.client.chat({ messages: [{ role: 'user', content: 'look' }] });
    await device.go('#/inbox');
    await device.go('#/new');
    const mode = page.locator('.composer [name=mode]');
    await mode.locator('option:has-text("code-review")').waitFor({ state: 'attached' });
    await mode.selectOption('code-review');
    await device.say('review it');
    await device.sees('Reviewed.');
    expect(await mode.inputValue()).toBe('code-review');
    const id = page.url().split('/c/')[1] ?? '';
    const { responses } = await one.house.client.getConversation(id);
    expect(responses).toMatchObject([{ mode: 'ask', ownMode: 'code-review' }]);
    await mode.selectOption('agent');
  });

  it('the choice of the mode follows an answer that goes on in another one', async () => {
    const { page } = device;
    const change = { name: 'switch_mode', arguments: { mode: 'agent', reason: 'To write it.' } };
    one.answerWith([{ calls: [change] }, { text: 'Now I may.' }]);
    await device.go('#/new');
    const mode = page.locator('.composer [name=mode]');
    await mode.selectOption('ask');
    await device.say('change it');
    await page.click('.thread .ask label >> nth=0');
    await page.click('.thread .ask button[type=submit]');
    await device.sees('Now I may.');
    await expect.poll(() => mode.inputValue()).toBe('agent');
  });

  it('the palette goes anywhere and acts on the open conversation, by keys alone', async () => {
    const { page } = device;
    one.answerWith(() => ({ text: 'Long ago.' }));
    const { client } = one.house;
    const say = (content: string) => client.chat({ messages: [{ role: 'user', content }] });
    await say('zebra crossing');
    await say(`zebra ${HOSTILE}`);
    await device.go('#/inbox');
    await page.waitForSelector('.list a:has-text("zebra crossing")');
    const field = page.locator('.palette [role=combobox]');
    const open = async () => {
      await page.keyboard.press('Control+k');
      await page.waitForSelector('.palette [role=combobox]:focus');
    };
    const chosen = page.locator('.palette [role=option][aria-selected=true]');
    await open();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.keyboard.type('work zebra');
    await expect
      .poll(() => chosen.textContent())
      .toContain('a\\u{202e}gnp.exe \\u{1b}[31mred <img');
    await page.keyboard.press('ArrowDown');
    expect(await chosen.textContent()).toContain('zebra crossing');
    expect(await field.getAttribute('aria-activedescendant')).toBe(await chosen.getAttribute('id'));
    await page.keyboard.press('Enter');
    await page.waitForSelector('.bar h1:has-text("zebra crossing")');
    await open();
    await page.keyboard.type('archive');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.list a:has-text("zebra crossing")', { state: 'detached' });
    await open();
    await page.keyboard.type('nothing has this');
    await page.waitForSelector('.palette:has-text("Nothing found.")');
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await open();
    await page.keyboard.type('settings');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toMatch(/#\/settings$/);
  });

  it('the Enter that ends a composition neither sends nor chooses, in Safari’s order too', async () => {
    const { page } = device;
    one.answerWith(() => ({ text: 'Sent.' }));
    await device.go('#/new');
    const field = page.locator('.composer textarea');
    await field.fill('にほん');
    await page.evaluate(ENTER_OF_SAFARI);
    await page.keyboard.press('Control+k');
    const palette = page.locator('.palette [role=combobox]');
    await palette.fill('settings');
    await page.evaluate(ENTER_OF_SAFARI);
    await page.keyboard.press('Escape');
    expect(page.url()).toMatch(/#\/new$/);
    expect(await field.inputValue()).toBe('にほん');
    await field.press('Enter');
    await device.sees('Sent.');
  });

  it('one writes on where one was when the palette is closed', async () => {
    const { page } = device;
    await device.go('#/new');
    const field = page.locator('.composer textarea');
    await field.fill('');
    // A browser that forgets where the keys go does so now and then.
    for (let time = 1; time <= 5; time++) {
      await page.keyboard.press('Control+k');
      await page.waitForSelector('.palette [role=combobox]:focus');
      await page.keyboard.press('Escape');
      await page.waitForSelector('.palette', { state: 'detached' });
      await page.waitForSelector('.composer textarea:focus');
      await page.keyboard.type('x');
      await expect.poll(() => field.inputValue()).toBe('x'.repeat(time));
    }
    await field.fill('');
  });

  it('says before a message is sent that its machine is away', async () => {
    const { page } = device;
    await device.go('#/new');
    const away = page.locator('.composer [role=status]', { hasText: 'is not connected' });
    await page.waitForSelector('.composer [name=bridge]');
    expect(await away.count()).toBe(0);
    const { workspace, state } = one.house;
    await runDrawbridge(['disconnect', '--workspace', workspace, '--state', state], {});
    await away.waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
  });
});

/** The least height of what a finger hits, in CSS pixels. */
const TAPPED_PX = 44;

interface Box {
  readonly scrollWidth?: number;
  readonly clientWidth?: number;
  /** The width of its border. */
  readonly clientLeft?: number;
}

/** A PNG of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** A browser that is signed in and may approve at the house's machine. */
async function enrolled(): Promise<WebDevice> {
  const { client, state, ready } = one.house;
  const printed = await runDrawbridge(['enrol', '--state', state], {});
  const { bridgeId, secret } = readEnrolment(printed.stdout) ?? {};
  return await openDevice(
    browser,
    { client, url: ready.url },
    { extra: `&enrol=${bridgeId}.${secret}` },
  );
}
