/** The main flow of the web page in Firefox. test/flow/page.deep.ts has the rest, in Chromium. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnrolment } from '../../client/index.ts';
import { NO_FIREFOX, openFirefox } from '../browser/firefox.ts';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { oneHouse } from './one-house.ts';

const one = oneHouse({ rules: [{ tool: 'write', pattern: '*', decision: 'ask' }] });

describe.skipIf(NO_FIREFOX)(`the page in Firefox ${NO_FIREFOX ?? ''}`, () => {
  it('signs in by a link, streams an answer, approves a call, and keeps its place over a reload', async () => {
    const { house } = one;
    const words = Array.from({ length: 100 }, (_, index) => `Word ${index}.`).join(' ');
    const file = { path: 'made.txt', contents: 'made\n' };
    one.answerWith([
      { text: words, delayMs: 50 },
      { calls: [{ name: 'write', arguments: file }] },
      { text: 'Written.' },
    ]);
    await using page = await openFirefox();
    const has = (selector: string) => async () =>
      await page.evaluate(`document.querySelector(${JSON.stringify(selector)}) !== null`);
    const shown = () => page.evaluate('document.querySelector(".messages")?.textContent ?? ""');
    const say = async (text: string) => {
      await page.click('document.querySelector(".composer textarea")');
      await page.type(text);
      await page.click('document.querySelector(".composer button[type=submit]")');
    };

    const { secret } = await house.client.createInvitation();
    const printed = await runDrawbridge(['enrol', '--state', house.state], {});
    const enrolment = readEnrolment(printed.stdout);
    const enrol = `${enrolment?.bridgeId}.${enrolment?.secret}`;
    await page.goto(`${house.ready.url}/#join=${secret}&enrol=${enrol}`);
    await expect.poll(has('.frame')).toBe(true);
    expect(await page.evaluate('location.href')).not.toContain('join');
    const { items } = await house.client.listSessions();
    expect(items).toMatchObject([{ kind: 'browser', name: 'Firefox on Linux' }]);

    await page.evaluate('void (location.hash = "#/new")');
    await expect.poll(has('.composer textarea')).toBe(true);
    await say('count');
    await expect.poll(has('.messages[aria-busy=true] .text p')).toBe(true);
    expect(await shown()).toContain('Word');
    await expect.poll(shown).toContain('Word 99.');

    await say('write it');
    const allow = `[...document.querySelectorAll('.ask button:enabled')].find(
      ({ textContent }) => textContent.includes('Allow once'))`;
    await expect.poll(() => page.evaluate(`${allow} !== undefined`)).toBe(true);
    await page.click(allow);
    await expect.poll(shown).toContain('Written.');
    expect(readFileSync(join(house.workspace, 'made.txt'), 'utf8')).toBe('made\n');

    const place = await page.evaluate('location.href');
    // A reload in the middle of its load would be a fault of the service worker.
    const coloured = `performance.getEntriesByType('resource').some(
      ({ name }) => name.includes('/page/highlight'))`;
    await expect.poll(() => page.evaluate(coloured)).toBe(true);
    await page.reload();
    await expect.poll(shown).toMatch(/Word 99\..*Written\./s);
    expect(await page.evaluate('location.href')).toBe(place);
    const scope = 'navigator.serviceWorker.ready.then(({ scope }) => scope)';
    expect(await page.evaluate(scope)).toBe(`${house.ready.url}/`);
    expect(page.faults).toEqual([]);
  });
});
