/** The web page of a running Drawbridge in a real browser, as a person sees it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Client } from '../../client/index.ts';

export const LAPTOP = { width: 1280, height: 800 };
/** On a machine with much other work. */
export const PATIENCE_MS = 120_000;

export const PHONE = { width: 390, height: 844 };

/** One device: a browser of its own, signed in by an invitation. */
export interface WebDevice {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts and violations of the page's policy so far. */
  readonly faults: readonly string[];
  /** Opens a place, such as `#/inbox`. */
  go(fragment: string): Promise<void>;
  /** Writes into the composer and sends. */
  say(text: string): Promise<void>;
  /** Resolves once the thread shows the text. */
  sees(text: string): Promise<void>;
}

export interface DeviceOptions {
  readonly viewport?: typeof LAPTOP;
  readonly locale?: string;
  /** Behind the invitation in the link, such as `&enrol=…`. */
  readonly extra?: string;
}

/** `client` is signed in already, and invites the new device. `url` is where the browser opens the page. */
export async function openDevice(
  browser: Browser,
  { client, url }: { readonly client: Client; readonly url: string },
  { viewport = LAPTOP, extra = '', locale = 'en-GB' }: DeviceOptions = {},
): Promise<WebDevice> {
  const context = await browser.newContext({ viewport, locale });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) faults.push(message.text());
  });
  const { secret } = await client.createInvitation();
  await page.goto(`${url}/#join=${secret}${extra}`);
  await page.waitForSelector('.frame');
  return {
    page,
    context,
    faults,
    go: async (fragment) => {
      await page.evaluate(`location.hash = ${JSON.stringify(fragment)}`);
    },
    say: async (text) => {
      await page.fill('.composer textarea', text);
      await page.click('.composer button[type=submit]');
    },
    sees: async (text) => {
      await expect.poll(() => page.textContent('.messages')).toContain(text);
    },
  };
}

/** For `evaluate` of a page, in the field that has the focus: the Enter that chooses a word of an input method, in Safari's order. */
export const ENTER_OF_SAFARI = `(() => {
  const { activeElement: focused } = document;
  const field = focused.shadowRoot?.activeElement ?? focused;
  field.dispatchEvent(new CompositionEvent('compositionend', { bubbles: true, data: '日本' }));
  const key = { key: 'Enter', code: 'Enter', keyCode: 229, bubbles: true, cancelable: true };
  field.dispatchEvent(new KeyboardEvent('keydown', key));
})()`;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds wrong with the page as it is now: each rule with the elements. */
export async function accessibilityFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}
