/** (d) The costs of an answer: rows written by all objects, and bytes for each token. */
import { startBare } from '../bare.ts';
import { COUNTING_ENTRY, countRows } from '../counted-rows.ts';
import { connectEmptyBridge } from '../empty-bridge.ts';
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import { rowBudget } from '../row-budget.ts';
import { SCRIPTS } from '../scripts.ts';
import type { Ground } from '../side.ts';
import { hear } from '../stamps.ts';

export async function measureRows(ground: Ground): Promise<Figure[]> {
  await using bare = await startBare(ground);
  await using house = await startHouse(ground, COUNTING_ENTRY);
  await using bridge = await connectEmptyBridge(house, { status: 'success', data: 'content' });
  const talk = await house.open(bridge.bridgeId);
  const bareTalk = await bare.open();
  const short = await countRows(house, () => hear(talk, 'short'));
  const tools = await countRows(house, () => hear(talk, 'tools'));
  const [long, bareLong] = await Promise.all([
    countRows(house, () => hear(talk, 'long')),
    hear(bareTalk, 'long'),
  ]);
  const { tokens, everyMs } = SCRIPTS.long;
  const rows = { unit: 'rows', bare: null } as const;
  return [
    { ...rows, what: 'a short answer', ours: short.rows, target: { max: budgetOf('short') } },
    {
      ...rows,
      what: `an answer of ${(tokens * everyMs) / 1000} s, ${1000 / everyMs} tokens a second`,
      ours: long.rows,
      target: { max: Math.min(MAX_LONG_ROWS, budgetOf('long')) },
      peers: { aiChatAgent: '133 rows' },
    },
    {
      ...rows,
      what: `an answer of ${TOOL_TURNS} turns with ${TOOL_CALLS} calls`,
      ours: tools.rows,
      target: { max: budgetOf('tools') },
    },
    {
      what: 'sent to the client for each token',
      unit: 'bytes',
      bare: bareLong.bytes / tokens,
      ours: long.result.bytes / tokens,
      target: { max: 110 },
      peers: { aiChatAgent: '201 bytes', opencode: '312 bytes' },
    },
  ];
}

/** A long answer of one text and one turn needs less than its budget. One row shows in the list that it runs. */
const MAX_LONG_ROWS = 17;

const TOOL_TURNS = SCRIPTS.tools.calls.length + 1;
const TOOL_CALLS = SCRIPTS.tools.calls.reduce<number>((sum, calls) => sum + calls, 0);

/** Each call is a document; so is the text at the end. */
function budgetOf(script: 'short' | 'long' | 'tools'): number {
  const { calls, tokens, everyMs } = SCRIPTS[script];
  const called = calls.reduce<number>((sum, count) => sum + count, 0);
  return rowBudget({
    seconds: (tokens * everyMs) / 1000,
    documents: called + 1,
    turns: calls.length + 1,
    calls: called,
  });
}
