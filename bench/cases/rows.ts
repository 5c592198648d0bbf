/** (d) What is billed and what is sent: rows written by all objects, and bytes for each token. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startBare } from '../bare.ts';
import { connectEmptyBridge } from '../empty-bridge.ts';
import type { Figure } from '../figure.ts';
import { startHouse } from '../house.ts';
import { SCRIPTS, type ScriptName } from '../scripts.ts';
import type { Ground, Talk } from '../side.ts';
import { hear } from '../stamps.ts';

const COUNTING_ENTRY = join(import.meta.dirname, '..', 'edge', 'counting.ts');
/** What is still written after an answer's last byte is written by then. */
const SETTLE_MS = 500;

export async function measureRows(ground: Ground): Promise<Figure[]> {
  await using bare = await startBare(ground);
  await using house = await startHouse(ground, COUNTING_ENTRY);
  await using bridge = await connectEmptyBridge(house, { status: 'success', data: 'content' });
  const talk = await house.open(bridge.bridgeId);
  const bareTalk = await bare.open();
  const short = await countRows(house.url, talk, 'short');
  const tools = await countRows(house.url, talk, 'tools');
  const [long, bareLong] = await Promise.all([
    countRows(house.url, talk, 'long'),
    hear(bareTalk, 'long'),
  ]);
  const { tokens, everyMs } = SCRIPTS.long;
  const rows = { unit: 'rows', bare: null } as const;
  return [
    { ...rows, what: 'a short answer', ours: short.rows },
    {
      ...rows,
      what: `an answer of ${(tokens * everyMs) / 1000} s, ${1000 / everyMs} tokens a second`,
      ours: long.rows,
      target: { max: 16 },
      peers: { aiChatAgent: '133 rows' },
    },
    {
      ...rows,
      what: `an answer of ${TOOL_TURNS} turns with ${TOOL_CALLS} calls`,
      ours: tools.rows,
    },
    {
      what: 'sent to the client for each token',
      unit: 'bytes',
      bare: bareLong.bytes / tokens,
      ours: long.bytes / tokens,
      target: { max: 110 },
      peers: { aiChatAgent: '201 bytes', opencode: '312 bytes' },
    },
  ];
}

const TOOL_TURNS = SCRIPTS.tools.calls.length + 1;
const TOOL_CALLS = SCRIPTS.tools.calls.reduce<number>((sum, calls) => sum + calls, 0);

async function countRows(
  url: string,
  talk: Talk,
  script: ScriptName,
): Promise<{ rows: number; bytes: number }> {
  await sleep(SETTLE_MS);
  const before = await readRows(url);
  const { bytes } = await hear(talk, script);
  await sleep(SETTLE_MS);
  return { rows: (await readRows(url)) - before, bytes };
}

async function readRows(url: string): Promise<number> {
  const response = await fetch(`${url}/bench/rows`);
  return z.coerce
    .number()
    .int()
    .parse(await response.text());
}
