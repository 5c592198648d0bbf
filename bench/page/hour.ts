/** Measures what the page keeps in memory of an hour of answers. */
import { KIB } from '../../shared/units.ts';
import type { Part, Tab } from './part.ts';
import { begin, say, shownEnd } from './watching.ts';

/** 48 answers of 30 KB are what a model writes in an hour at 100 tokens a second. */
const ANSWERS = 48;
const QUARTERS = 4;
const SPEED = 30;
const MB = 1e6;

export const measureHour: Part = {
  figures: [
    ...Array.from({ length: QUARTERS }, (_, quarter) => ({
      what: `heap after ${(quarter + 1) * 15} minutes of answers`,
      unit: 'MB' as const,
    })),
    { what: 'growth from the first quarter to the last', unit: '%', max: 10 },
    { what: 'nodes of the document at the end', unit: 'rows' },
  ],
  note: `An hour of answers: ${ANSWERS} of 30 KB in one conversation, ${SPEED} times as fast as 100 tokens a second.`,
  async measure(side, tab) {
    await begin(side, tab);
    const heaps: number[] = [];
    for (let id = 1; id <= ANSWERS; id++) {
      const asked = { id, chars: 30 * KIB, tokensPerSecond: 100 * SPEED };
      await say(side, tab.page, asked);
      await shownEnd(side, tab.page, asked);
      if (id % (ANSWERS / QUARTERS) === 0) heaps.push(await heapOf(tab));
    }
    const [first = Number.NaN, last = Number.NaN] = [heaps.at(0), heaps.at(-1)];
    const { nodes } = await tab.devtools.send('Memory.getDOMCounters');
    return [...heaps, (last / first - 1) * 100, nodes];
  },
};

/** What is left after the garbage is collected. */
async function heapOf({ devtools }: Tab): Promise<number> {
  await devtools.send('HeapProfiler.collectGarbage');
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return usedSize / MB;
}
