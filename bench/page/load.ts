/** Measures how much the browser loads until the last conversation is shown, and how long that takes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Page, Response } from 'playwright-core';
import { KIB } from '../../shared/units.ts';
import { median } from '../statistics.ts';
import type { Part, Tab } from './part.ts';
import type { Side } from './side.ts';
import { shownEnd } from './watching.ts';

const ROUNDS = 7;
const EXCHANGES = 10;
const IDLE_MS = 2_000;

export const measureLoad: Part = {
  figures: [
    { what: 'first load: files of the page, gzip', unit: 'KiB', max: 60 },
    { what: 'and answers of the API, gzip', unit: 'KiB' },
    { what: 'files after that, when idle, gzip', unit: 'KiB' },
    { what: 'until the last conversation is shown', unit: 'ms' },
    { what: 'the same with a warm cache', unit: 'ms' },
  ],
  async measure(side, tab) {
    const asked = Array.from({ length: EXCHANGES }, (_, id) => ({
      id,
      chars: 1_600,
      tokensPerSecond: 0,
    }));
    const url = await side.converse(asked);
    const last = asked.at(-1) ?? { id: 0 };
    const open = async () => {
      await tab.page.goto(side.stillUrl);
      await tab.page.goto(url);
      return await shownEnd(side, tab.page, { ...last, chars: 0, tokensPerSecond: 0 });
    };
    await open();
    const [cold, warm]: [number[], number[]] = [[], []];
    const loads: Load[] = [];
    while (cold.length < ROUNDS) {
      await forget(side, tab);
      const collected = collect(tab.page);
      const tookMs = await open();
      cold.push(tookMs);
      await sleep(IDLE_MS);
      const all = await collected();
      const shownAtMs = (await tab.page.evaluate<number>('performance.timeOrigin')) + tookMs;
      loads.push(loadOf(all, shownAtMs));
      warm.push(await open());
    }
    const kibs = (['files', 'answers', 'later'] as const).map((name) =>
      median(loads.map((load) => load[name])),
    );
    return [...kibs, median(cold), median(warm)];
  },
};

/** In KiB. */
interface Load {
  readonly files: number;
  readonly answers: number;
  readonly later: number;
}

function loadOf(all: readonly Loaded[], shownAtMs: number): Load {
  const first = all.filter(({ endedAtMs }) => endedAtMs <= shownAtMs);
  const files = sum(first, false);
  return { files, answers: sum(first, true), later: sum(all, false) - files };
}

function sum(loaded: readonly Loaded[], isData: boolean): number {
  const some = loaded.filter((each) => each.isData === isData);
  return some.reduce((total, { bytes }) => total + bytes, 0) / KIB;
}

/** As a browser that has never shown this page, but is signed in. */
async function forget({ stillUrl }: Side, { page, devtools }: Tab): Promise<void> {
  await page.goto(stillUrl);
  await page.evaluate('bench.forget()');
  await devtools.send('Network.clearBrowserCache');
}

interface Loaded {
  readonly bytes: number;
  /** Since the epoch. */
  readonly endedAtMs: number;
  readonly isData: boolean;
}

/** The page's requests from now on. The function that is returned resolves with those that were answered before. */
function collect(page: Page): () => Promise<Loaded[]> {
  const responses: Response[] = [];
  page.on('response', (response) => responses.push(response));
  return async () => {
    const whole = responses.filter((response) => !isStream(response));
    return await Promise.all(whole.map(measureResponse));
  };
}

/** It does not end. */
function isStream(response: Response): boolean {
  return response.headers()['content-type']?.startsWith('text/event-stream') === true;
}

/** Compressed as a server in front of it would, whatever this one does: both pages are served on this machine. */
async function measureResponse(response: Response): Promise<Loaded> {
  // The body of a redirect or a preflight cannot be read, and is empty.
  const body = await response.body().catch(() => Buffer.alloc(0));
  const isData = response.headers()['content-type']?.startsWith('application/json') === true;
  const { startTime, responseEnd } = response.request().timing();
  const bytes = Math.min(body.length, gzipSync(body).length);
  return { bytes, endedAtMs: startTime + responseEnd, isData };
}
