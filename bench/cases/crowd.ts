/** (e) Many conversations at once: what a crowd adds to each token, and what it takes of memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startBare } from '../bare.ts';
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import type { Memory } from '../memory.ts';
import { SCRIPTS } from '../scripts.ts';
import type { Ground, Side } from '../side.ts';
import { hear } from '../stamps.ts';
import { median, percentile } from '../statistics.ts';

const CONVERSATIONS = 100;
/** They begin one after the other within a second, as people do. */
const BETWEEN_MS = 10;

export async function measureCrowd(ground: Ground): Promise<Figure[]> {
  const bare = await measureSide(await startBare(ground));
  const ours = await measureSide(await startHouse(ground));
  const pace = 1000 / SCRIPTS.crowd.everyMs;
  return [
    {
      what: `${CONVERSATIONS} conversations, ${pace} tokens a second each, added: median`,
      unit: 'ms',
      bare: median(bare.agesMs),
      ours: median(ours.agesMs),
    },
    {
      what: 'the same: p95',
      unit: 'ms',
      bare: percentile(bare.agesMs, 0.95),
      ours: percentile(ours.agesMs, 0.95),
    },
    memoryFigure('workerd’s resident memory at its end', 'residentMb', bare.memory, ours.memory),
    memoryFigure('the same: the most there was', 'peakMb', bare.memory, ours.memory),
  ];
}

interface Crowd {
  readonly agesMs: readonly number[];
  /** Just after the last answer. */
  readonly memory: Memory | null;
}

/** One side after the other, each with the machine to itself and a new process. */
async function measureSide(started: Side & AsyncDisposable): Promise<Crowd> {
  await using side = started;
  const talks = await Promise.all(Array.from({ length: CONVERSATIONS }, () => side.open()));
  const heard = await Promise.all(
    talks.map(async (talk, index) => {
      await sleep(index * BETWEEN_MS);
      return await hear(talk, 'crowd');
    }),
  );
  return { agesMs: heard.flatMap(({ agesMs }) => agesMs), memory: await side.memory() };
}

function memoryFigure(
  what: string,
  field: keyof Memory,
  bare: Memory | null,
  ours: Memory | null,
): Figure {
  return {
    what,
    unit: 'MB',
    bare: bare?.[field] ?? null,
    ours: ours?.[field] ?? null,
    peers: { opencode: '730 MB' },
  };
}
