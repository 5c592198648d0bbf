/** (j) Subagents: four at once beside one, and the rows of their tree. */

import { nowMs } from '../clock.ts';
import { COUNTING_ENTRY, countRows } from '../counted-rows.ts';
import { connectEmptyBridge } from '../empty-bridge.ts';
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import type { Ground } from '../side.ts';
import { hear } from '../stamps.ts';
import { median } from '../statistics.ts';

const WARM_UPS = 1;
const ROUNDS = 7;

/** Each subagent has two turns with two calls each, and a turn of text. */
export async function measureSubagents(ground: Ground): Promise<Figure[]> {
  await using house = await startHouse(ground, COUNTING_ENTRY);
  await using bridge = await connectEmptyBridge(house, { status: 'success', data: 'content' });
  const answer = async (script: 'subagent' | 'subagents') =>
    await hear(await house.open(bridge.bridgeId), script);
  const times = { subagent: [] as number[], subagents: [] as number[] };
  for (let round = 0; round < WARM_UPS + ROUNDS; round++) {
    for (const script of ['subagent', 'subagents'] as const) {
      const startedMs = nowMs();
      await answer(script);
      if (round >= WARM_UPS) times[script].push(nowMs() - startedMs);
    }
  }
  const talk = await house.open(bridge.bridgeId);
  const one = await countRows(house, () => hear(talk, 'subagent'));
  const other = await house.open(bridge.bridgeId);
  const four = await countRows(house, () => hear(other, 'subagents'));
  const rows = { unit: 'rows', bare: null } as const;
  const ms = { unit: 'ms', bare: null } as const;
  return [
    { ...ms, what: 'an answer with one subagent', ours: median(times.subagent) },
    { ...ms, what: 'an answer with four subagents at once', ours: median(times.subagents) },
    { ...rows, what: 'an answer with one subagent of 3 turns and 4 calls', ours: one.rows },
    { ...rows, what: 'an answer with four of them', ours: four.rows },
  ];
}
