/** (k) What an answer costs on Cloudflare, in the units that are billed. */
import { type BilledAnswer, MEASURED } from '../cost.ts';
import { COUNTING_ENTRY, countRows } from '../counted-rows.ts';
import { connectEmptyBridge } from '../empty-bridge.ts';
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import type { Ground } from '../side.ts';
import { hear } from '../stamps.ts';

/** The middle one of three counts: when a batch is written depends on the clock. */
const ROUNDS = 3;

export async function measureBilling(ground: Ground): Promise<Figure[]> {
  const bills = await measureBills(ground);
  return (['chatting', 'working'] as const).flatMap((script) =>
    (['rows', 'requests', 'messages'] as const).map((what) => ({
      what: `${script}: ${what} (in docs/hosting.md: ${MEASURED[script][what]})`,
      unit: what === 'rows' ? ('rows' as const) : ('requests' as const),
      bare: null,
      ours: bills[script][what],
    })),
  );
}

/** What one answer of each script costs, by count. */
export async function measureBills(
  ground: Ground,
): Promise<Readonly<Record<keyof typeof MEASURED, BilledAnswer>>> {
  await using house = await startHouse(ground, COUNTING_ENTRY);
  await using bridge = await connectEmptyBridge(house, { status: 'success', data: 'content' });
  const talk = await house.open(bridge.bridgeId);
  const bill = async (script: keyof typeof MEASURED) => {
    const counts: BilledAnswer[] = [];
    while (counts.length < ROUNDS) counts.push(await countRows(house, () => hear(talk, script)));
    const middle = (what: keyof BilledAnswer) =>
      counts.map((count) => count[what]).sort((a, b) => a - b)[1] ?? 0;
    return { rows: middle('rows'), requests: middle('requests'), messages: middle('messages') };
  };
  return { chatting: await bill('chatting'), working: await bill('working') };
}
