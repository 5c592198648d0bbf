/** What parts do with the page that they measure. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { type Asked, endOf, messageOf } from './asked.ts';
import type { Tab } from './part.ts';
import type { Side } from './side.ts';

export interface Watched {
  /** Milliseconds from each frame to the next. */
  readonly frames: readonly number[];
  /** Milliseconds from each press of a key until a frame with its effect was painted. */
  readonly keys: readonly number[];
}

/** After this a page has done what it leaves for later. */
const SETTLED_MS = 2_000;
const LOOK_EVERY_MS = 500;

/** Writes a message as a person does, and sends it. */
export async function say({ composer }: Side, page: Page, asked: Asked): Promise<void> {
  await page.click(composer);
  await page.keyboard.insertText(messageOf(asked));
  await page.keyboard.press('Enter');
}

/** Resolves when an answer shows this text, with the milliseconds since the document's navigation began. */
export async function shown(side: Side, page: Page, text: string): Promise<number> {
  const words = [side.answers, text].map((word) => JSON.stringify(word));
  return await page.evaluate<number>(`bench.shown(${words.join()})`);
}

export async function shownEnd(side: Side, page: Page, asked: Asked): Promise<number> {
  return await shown(side, page, endOf(asked));
}

/** As {@link shownEnd}, but looks from outside, now and then: it costs the page next to nothing. */
export async function shownSlowly({ answers }: Side, page: Page, asked: Asked): Promise<void> {
  const last = `[...document.querySelectorAll(${JSON.stringify(answers)})].at(-1)`;
  const isShown = `${last}?.textContent.includes(${JSON.stringify(endOf(asked))}) === true`;
  while (!(await page.evaluate<boolean>(isShown))) await sleep(LOOK_EVERY_MS);
}

/** Shows a conversation that has begun, so that the next answer finds all code loaded. */
export async function begin(side: Side, { page }: Tab): Promise<void> {
  const greeting = { id: 0, chars: 2_000, tokensPerSecond: 0 };
  await page.goto(await side.converse([greeting]));
  await shownEnd(side, page, greeting);
  await sleep(SETTLED_MS);
}

export async function watch(page: Page): Promise<() => Promise<Watched>> {
  await page.evaluate('bench.watch()');
  return () => page.evaluate<Watched>('bench.taken()');
}
