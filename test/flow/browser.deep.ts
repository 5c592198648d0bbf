import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_CHROMIUM, openPage, servePage, startBrowser } from '../browser/chromium.ts';
import type * as InPage from '../browser/page.ts';
import type { PageServer } from '../browser/page-server.ts';
import { callDrawbridge } from '../cli/called.ts';
import { type House, startHouse } from './house.ts';

/** What the page's script puts there. */
declare const page: typeof InPage;

describe.skipIf(NO_CHROMIUM)(`a web page ${NO_CHROMIUM ?? ''}`, () => {
  let server: PageServer;
  let house: House;
  let browser: Browser;

  beforeAll(async () => {
    server = await servePage();
    house = await startHouse({
      rules: [{ tool: 'run_terminal_cmd', pattern: '*', decision: 'ask' }],
      variables: { ALLOWED_ORIGINS: server.origin },
    });
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await house?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  it('of a listed origin streams, follows by a ticket and lists; one of another origin does none of it', async () => {
    const { url, token } = house.ready;
    const listed = await openPage(browser, server.origin);
    const connection = { url, token };

    const streamed = await listed.evaluate((to) => page.streamAnswer(to, 'hello'), connection);
    expect(streamed.text).toContain('demo model');
    const followed = await listed.evaluate(({ to, id }) => page.followByTicket(to, id), {
      to: connection,
      id: streamed.responseId,
    });
    expect(followed).toBe(streamed.text);
    expect(await listed.evaluate((to) => page.listTitles(to), connection)).toEqual(['hello']);

    const other = await openPage(browser, server.origin.replace('127.0.0.1', 'localhost'));
    const failure = await other.evaluate((to) => page.failureOf(to), connection);
    expect(failure).toMatch(/^UNREACHABLE: .* answers, but its ALLOWED_ORIGINS lacks http/);
    const { responseId } = streamed;
    const { ticket } = await house.client.createTicket({ responseId });
    const reading = other.evaluate(({ to, id, by }) => page.readWith(by, to, id), {
      to: connection,
      id: responseId,
      by: ticket,
    });
    await expect(reading).rejects.toThrow('The stream failed.');
  });

  it('enrols itself by a secret that the machine prints, and approves', async () => {
    const { stdout: printed } = await callDrawbridge([
      ...['enrol', '--workspace', house.workspace, '--state', house.state],
    ]);
    const opened = await openPage(browser, server.origin);
    const { url, token } = house.ready;
    await opened.evaluate(({ to, text }) => page.enrolAndAllow(to, text, 'run touch made.txt'), {
      to: { url, token },
      text: printed,
    });
    expect(existsSync(join(house.workspace, 'made.txt'))).toBe(true);
  });
});
