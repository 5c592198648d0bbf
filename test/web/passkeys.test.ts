import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isSignedByPasskey } from '../../shared/wire/assertion.ts';
import type { PasskeySignature } from '../../shared/wire/passkey.ts';
import { NO_CHROMIUM, startBrowser } from '../browser/chromium.ts';
import type { PageServer } from '../browser/page-server.ts';
import { serveParts } from './parts-server.ts';

/** What parts-page.tsx has, which only the compiler of web/ can read. */
declare const page: {
  makePasskey(label: string, owner: string, known?: readonly string[]): Promise<Made>;
  signByPasskey(text: string, credentialId?: string): Promise<Signed>;
};

interface Made {
  readonly credentialId: string;
  readonly origin: string;
  readonly publicKey: Parameters<typeof isSignedByPasskey>[1]['publicKey'];
}

interface Signed {
  readonly credentialId: string;
  readonly signature: PasskeySignature;
}

describe.skipIf(NO_CHROMIUM)(`a passkey of the page in Chromium ${NO_CHROMIUM ?? ''}`, () => {
  let server: PageServer;
  let browser: Browser;
  let tab: Page;
  let cdp: CDPSession;
  let authenticatorId: string;

  beforeAll(async () => {
    server = await serveParts();
    browser = await startBrowser();
    tab = await browser.newPage();
    await tab.goto(server.origin.replace('127.0.0.1', 'localhost'));
    await tab.waitForFunction('globalThis.page');
    cdp = await tab.context().newCDPSession(tab);
    await cdp.send('WebAuthn.enable');
  });

  beforeEach(async () => {
    if (authenticatorId) await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
    ({ authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }));
  });

  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  it('signs a text in the form that is checked elsewhere, however its numbers begin', async () => {
    const made = await tab.evaluate(() => page.makePasskey('ana', 'ana'));
    for (let count = 0; count < 20; count++) {
      const text = `text ${count}`;
      const signed = await tab.evaluate(([text, id]) => page.signByPasskey(text, id), [
        text,
        made.credentialId,
      ] as const);
      expect(signed.credentialId).toBe(made.credentialId);
      expect(await isSignedByPasskey(text, made, signed.signature), text).toBe(true);
    }
  });

  it('takes the place of one of the same owner, and of no other', async () => {
    const [first, other, second] = await tab.evaluate(async () => [
      await page.makePasskey('ana (approves)', 'one browser'),
      await page.makePasskey('ana (approves)', 'another browser'),
      await page.makePasskey('ana (approves)', 'one browser'),
    ]);
    const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
    const ids = credentials.map((each) =>
      Buffer.from(each.credentialId, 'base64').toString('base64url'),
    );
    expect(ids.toSorted()).toEqual([other?.credentialId, second?.credentialId].toSorted());
    expect(ids).not.toContain(first?.credentialId);
  });

  it('says that it was cancelled where another one is being asked for', async () => {
    await cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: false });
    const why = await tab.evaluate(async () => {
      const both = [page.makePasskey('ana', 'ana'), page.signByPasskey('text')];
      return await Promise.race(both).then(
        () => 'nothing',
        (error: { readonly why: string }) => error.why,
      );
    });
    expect(why).toBe('cancelled');
  });
});
