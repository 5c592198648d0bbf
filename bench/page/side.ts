/** One of the web pages that `npm run bench:page` measures. */
import type { Page } from 'playwright-core';
import type { Asked } from './asked.ts';

export interface Side extends AsyncDisposable {
  readonly name: string;
  /** CSS selector of the texts of answers. */
  readonly answers: string;
  /** CSS selector of the field where a person writes. */
  readonly composer: string;
  /** CSS selector of the element that holds all messages; undefined where the page never has all of them. */
  readonly thread?: string;
  /** A file of the page's origin that runs no script. */
  readonly stillUrl: string;
  /** Signs this browser in. */
  enter(page: Page): Promise<void>;
  /** Makes a conversation in which each message has its answer. Returns the URL that shows it. */
  converse(messages: readonly Asked[]): Promise<string>;
  /** Loads what the page did not load of the conversation at first. Only with {@link thread}. */
  loadAll?(page: Page): Promise<void>;
}
