/** (c) Tool turns over the tunnel: with the real bridge and a real file, and with a bridge that does nothing. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alternate } from '../alternate.ts';
import { nowMs } from '../clock.ts';
import { type ConnectedBridge, connectEmptyBridge } from '../empty-bridge.ts';
import type { Figure } from '../figure.ts';
import { type House, startHouse } from '../house.ts';
import { connectRealBridge } from '../real-bridge.ts';
import { READ_FILE, SCRIPTS } from '../scripts.ts';
import type { Ground } from '../side.ts';
import { median } from '../statistics.ts';

const WARM_UPS = 2;
const ROUNDS = 7;

export async function measureReading(ground: Ground): Promise<Figure[]> {
  await using house = await startHouse(ground);
  await writeFile(join(house.workspaceDir, READ_FILE.name), READ_FILE.text);
  await using real = await connectRealBridge(house);
  await using empty = await connectEmptyBridge(house, { status: 'success', data: SHOWN_FILE });
  const times = await alternate(
    { bare: empty, ours: real },
    { warmUps: WARM_UPS, rounds: ROUNDS },
    (bridge) => turnMs(house, bridge),
  );
  return [
    {
      what: `${TURNS} read_file turns, each (bare: no tool)`,
      unit: 'ms',
      bare: median(times.bare),
      ours: median(times.ours),
      target: { maxRatio: 1.5, max: 12 },
      peers: { aiChatAgent: '6 ms, no tunnel or file', opencode: '50 ms' },
    },
  ];
}

const TURNS = SCRIPTS.reading.calls.length;

/** The tool's text for the file, so that both bridges give the model the same history. */
const SHOWN_FILE = READ_FILE.text
  .split('\n')
  .map((line, index) => `${index + 1}|${line}`)
  .join('\n');

/** The average time from one result on the stream to the next, without the beginning and the end of the answer. */
async function turnMs(house: House, { bridgeId }: ConnectedBridge): Promise<number> {
  const talk = await house.open(bridgeId);
  const results: number[] = [];
  let isFailed = false;
  await talk('reading', (text) => {
    if (text.includes('event: tool_result\n')) results.push(nowMs());
    isFailed ||= text.includes('"status":"error"');
  });
  const [first = 0] = results;
  // Pieces are whole frames here: at most one result is on its way at a time.
  if (isFailed || results.length !== TURNS) throw new Error('The calls did not all succeed.');
  return ((results.at(-1) ?? 0) - first) / (TURNS - 1);
}
