/** Measures the main thread, the frames and the keyboard while an answer streams. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { KIB } from '../../shared/units.ts';
import { percentile } from '../statistics.ts';
import { type Asked, TOKEN_CHARS } from './asked.ts';
import { markdownOf } from './markdown.ts';
import type { Part, Tab } from './part.ts';
import type { Side } from './side.ts';
import { begin, say, shown, shownSlowly, watch } from './watching.ts';

const TOKENS_PER_SECOND = 100;
const ANSWER: Asked = { id: 1, chars: 30 * KIB, tokensPerSecond: TOKENS_PER_SECOND };
/** A part of {@link ANSWER}, ten times a second. */
const BARE = { pieces: 100, chars: (TOKENS_PER_SECOND * TOKEN_CHARS) / 10, everyMs: 100 } as const;
/** A phone of the middle class beside this machine. */
const SLOWER = 4;
const KEYS = 250;
/** A quick typist. */
const KEY_EVERY_MS = 100;

export const measureStreaming: Part = {
  figures: [
    { what: 'main thread, 30 KB at 100 tokens/s', unit: 'ms', max: 600 },
    { what: 'of it scripts', unit: 'ms' },
    { what: 'styles', unit: 'ms' },
    { what: 'layout', unit: 'ms' },
    { what: 'painting, input and the network', unit: 'ms' },
    { what: 'layouts a second', unit: 'events' },
    { what: 'main thread, the same text in an empty page', unit: 'ms' },
    { what: 'longest task, CPU 4x slower', unit: 'ms', max: 80 },
    { what: 'p99 from frame to frame, CPU 4x slower', unit: 'ms' },
    { what: 'worst from frame to frame, CPU 4x slower', unit: 'ms' },
  ],
  note: 'streaming: processor time of the main thread; from frame to frame it is real time, with all that this machine does. The empty page gets text ten times a second from its own script: what is left is the browser.',
  async measure(side, tab) {
    const times = await stream(side, tab);
    const { frames, longestMs } = await streamSlowly(side, tab);
    const bareMs = await streamBare(tab);
    return [...times, bareMs, longestMs, percentile(frames, 0.99), Math.max(...frames)];
  },
};

export const measureTyping: Part = {
  figures: [
    { what: 'key to its frame while streaming, p50', unit: 'ms' },
    { what: 'p95', unit: 'ms', max: 50 },
  ],
  async measure(side, tab) {
    await beginAnswer(side, tab);
    await tab.page.click(side.composer);
    const taken = await watch(tab.page);
    for (let key = 0; key < KEYS; key++) {
      await tab.page.keyboard.press('a');
      await sleep(KEY_EVERY_MS);
    }
    const { keys } = await taken();
    return [percentile(keys, 0.5), percentile(keys, 0.95)];
  },
};

/** The figures from the first characters of the answer to its last ones. Nothing but the page asks for frames. */
async function stream(side: Side, tab: Tab): Promise<readonly number[]> {
  await beginAnswer(side, tab);
  const [before, startMs] = [await metricsOf(tab), performance.now()];
  await shownSlowly(side, tab.page, ANSWER);
  const [after, seconds] = [await metricsOf(tab), (performance.now() - startMs) / 1_000];
  const more = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const ms = ['Script', 'RecalcStyle', 'Layout'].map((part) => more(`${part}Duration`) * 1_000);
  const all = more('TaskDuration') * 1_000;
  const rest = ms.reduce((left, part) => left - part, all);
  return [all, ...ms, rest, more('LayoutCount') / seconds];
}

async function streamSlowly(side: Side, tab: Tab) {
  await tab.devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await beginAnswer(side, tab);
  const [longest, taken] = [await traceTasks(tab), await watch(tab.page)];
  await shownSlowly(side, tab.page, ANSWER);
  const { frames } = await taken();
  const longestMs = await longest();
  await tab.devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  return { frames, longestMs };
}

/** What the browser itself takes for as much text, without a network, Markdown or anything around it. */
async function streamBare(tab: Tab): Promise<number> {
  await tab.page.goto('about:blank');
  const text = markdownOf(BARE.pieces * BARE.chars, '');
  const pieces = Array.from({ length: BARE.pieces }, (_, at) =>
    text.slice(at * BARE.chars, (at + 1) * BARE.chars),
  );
  const before = await metricsOf(tab);
  await tab.page.evaluate(`bench.grow(${JSON.stringify(pieces)}, ${BARE.everyMs})`);
  const after = await metricsOf(tab);
  const ms = ((after.get('TaskDuration') ?? 0) - (before.get('TaskDuration') ?? 0)) * 1_000;
  return ms * (ANSWER.chars / (BARE.pieces * BARE.chars));
}

async function beginAnswer(side: Side, tab: Tab): Promise<void> {
  await begin(side, tab);
  await say(side, tab.page, ANSWER);
  await shown(side, tab.page, 'Step 1');
}

/** What the browser has counted of the page's main thread, in seconds of its processor time. */
async function metricsOf({ devtools }: Tab): Promise<ReadonlyMap<string, number>> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return new Map(metrics.map(({ name, value }) => [name, value]));
}

const Trace = z.object({
  traceEvents: z.array(
    z.object({
      name: z.string(),
      pid: z.number(),
      tid: z.number(),
      /** Microseconds of the thread's processor time. */
      tdur: z.number().optional(),
      args: z.object({ name: z.unknown().optional() }).optional(),
    }),
  ),
});

/** From now on. Returns what ends it with the longest task of the page's main thread: a frame is one task. */
async function traceTasks({ page }: Tab): Promise<() => Promise<number>> {
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ['toplevel', '__metadata'] });
  return async () => {
    const { traceEvents } = Trace.parse(JSON.parse(String(await browser?.stopTracing())));
    const isMain = ({ name, args }: (typeof traceEvents)[number]) =>
      name === 'thread_name' && args?.name === 'CrRendererMain';
    const mains = new Set(traceEvents.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
    const tasks = traceEvents.filter(({ pid, tid }) => mains.has(`${pid} ${tid}`));
    return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1_000), 0);
  };
}
