/** (e) Many conversations at once: the time added to each token, and the CPU and memory used. */
import { setTimeout as sleep } from 'node:timers/promises';
import { startBare } from '../bare.ts';
import type { Figure } from '../figure.ts';
import type { Footprint } from '../footprint.ts';
import { startHouse } from '../house.ts';
import { SCRIPTS } from '../scripts.ts';
import type { Ground, Side } from '../side.ts';
import { hear } from '../stamps.ts';
import { median, percentile } from '../statistics.ts';

const CROWDS = [
  { conversations: 100, maxP95Ms: 60 },
  { conversations: 300, maxP95Ms: 500 },
] as const;
/** The conversations begin one after the other within this time, as people do. */
const WITHIN_MS = 1_000;
const PACE = 1_000 / SCRIPTS.crowd.everyMs;

export async function measureCrowd(ground: Ground): Promise<Figure[]> {
  const figures: Figure[] = [];
  const residents: (number | null)[] = [];
  for (const { conversations, maxP95Ms } of CROWDS) {
    const bare = await measureSide(await startBare(ground), conversations);
    const ours = await measureSide(await startHouse(ground), conversations);
    figures.push(
      figure(`${conversations} conversations, ${PACE} tokens a second each, added: median`, 'ms', {
        bare: median(bare.agesMs),
        ours: median(ours.agesMs),
      }),
      {
        ...figure('the same: p95', 'ms', {
          bare: percentile(bare.agesMs, 0.95),
          ours: percentile(ours.agesMs, 0.95),
        }),
        target: { max: maxP95Ms },
      },
      figure('the same: workerd’s CPU for each token', 'us', {
        bare: bare.cpuUsPerToken,
        ours: ours.cpuUsPerToken,
      }),
      memoryFigure('workerd’s resident memory at its end', 'residentMb', bare, ours),
      memoryFigure('the same: the most there was', 'peakMb', bare, ours),
    );
    residents.push(ours.after?.residentMb ?? null);
  }
  const [few, many] = residents;
  const more = CROWDS[1].conversations - CROWDS[0].conversations;
  const ours = few && many ? (many - few) / more : null;
  const what = `resident memory of each conversation beyond ${CROWDS[0].conversations}`;
  return [...figures, { ...figure(what, 'MB', { bare: null, ours }), target: { max: 1 } }];
}

interface Crowd {
  readonly agesMs: readonly number[];
  readonly cpuUsPerToken: number | null;
  /** Measured just after the last answer. */
  readonly after: Footprint | null;
}

/** Measures one side. Each side has the machine to itself and a new process. */
async function measureSide(started: Side & AsyncDisposable, conversations: number): Promise<Crowd> {
  await using side = started;
  const talks = await Promise.all(Array.from({ length: conversations }, () => side.open()));
  const before = await side.footprint();
  const heard = await Promise.all(
    talks.map(async (talk, index) => {
      await sleep((index * WITHIN_MS) / conversations);
      return await hear(talk, 'crowd');
    }),
  );
  const after = await side.footprint();
  const agesMs = heard.flatMap(({ agesMs }) => agesMs);
  const cpuMs = before && after && after.cpuMs - before.cpuMs;
  return { agesMs, after, cpuUsPerToken: cpuMs && (cpuMs * 1_000) / agesMs.length };
}

function figure(
  what: string,
  unit: Figure['unit'],
  measured: Pick<Figure, 'bare' | 'ours'>,
): Figure {
  return { what, unit, ...measured };
}

function memoryFigure(
  what: string,
  field: 'residentMb' | 'peakMb',
  bare: Crowd,
  ours: Crowd,
): Figure {
  return {
    ...figure(what, 'MB', { bare: bare.after?.[field] ?? null, ours: ours.after?.[field] ?? null }),
    peers: { opencode: '730 MB' },
  };
}
