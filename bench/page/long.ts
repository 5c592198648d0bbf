/** Measures the opening of a long conversation, and its layout where all of it is in the page. */

import { median } from '../statistics.ts';
import type { Part } from './part.ts';
import { shownEnd } from './watching.ts';

const MESSAGES = 1_500;
const ROUNDS = 3;

export const measureLong: Part = {
  figures: [
    { what: '1,500 messages, until the last is shown', unit: 'ms', max: 800 },
    { what: 'first layout with all of them in the page', unit: 'ms', max: 800 },
    { what: 'the same, CPU 4x slower', unit: 'ms' },
  ],
  async measure(side, { page, devtools }) {
    const asked = Array.from({ length: MESSAGES / 2 }, (_, id) => ({
      id,
      chars: 1_200,
      tokensPerSecond: 0,
    }));
    const url = await side.converse(asked);
    const last = asked.at(-1) ?? { id: 0, chars: 0, tokensPerSecond: 0 };
    const opened: number[] = [];
    while (opened.length < ROUNDS) {
      await page.goto(side.stillUrl);
      await page.goto(url);
      opened.push(await shownEnd(side, page, last));
    }
    if (!side.loadAll || side.thread === undefined) return [median(opened), null, null];
    await side.loadAll(page);
    const layOut = () => page.evaluate<number>(`bench.layOut(${JSON.stringify(side.thread)})`);
    const layoutMs = await layOut();
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const slowMs = await layOut();
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    return [median(opened), layoutMs, slowMs];
  },
};
