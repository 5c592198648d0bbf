/** `npm run bench:faults`: kills a running house repeatedly and checks what is lost. See `--help`. */

import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LOCAL_LIMITS } from '../local/limits.ts';
import { type FaultHouse, startFaultHouse } from './faults/house.ts';
import { formatReport, hasFaults } from './faults/report.ts';
import { planRound, playRound, type RoundPlan, type RoundResult } from './faults/round.ts';
import { Random } from './fuzz/random.ts';
import { startUpstream } from './upstream-process.ts';

const HELP = `Usage: npm run bench:faults [-- --runs N] [--seed N] [--houses N]

Runs Drawbridge as npm start does, a few of it side by side, and ends workerd, the bridge or both with SIGKILL: while text
streams, while a call runs, while an approval waits, while subagents work, and while nothing happens. Prints what the kills hit, how long it
took until the client heard something again, and how many messages were lost, commands doubled, texts changed and runs
stuck. The exit code is 1 when any of these is not 0. The same seed plans the same rounds; when exactly a kill comes is
the machine's affair. Linux only.
`;

/** One kill in each round: too few in a window for a crash loop. */
const ROUND_MS = Math.ceil(LOCAL_LIMITS.crashWindowMs / (LOCAL_LIMITS.maxCrashes - 2));

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      houses: { type: 'string', default: '4' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const [runs, seed, houses] = [values.runs, values.seed, values.houses].map(numberOf);
  process.stderr.write(`seed ${seed}, ${runs} runs, ${houses} houses\n`);
  const random = new Random(seed ?? 0);
  const plans = Array.from({ length: runs ?? 0 }, (_, round) => planRound(round, random));
  const startedMs = performance.now();
  const results = await playAll(plans, houses ?? 1);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  process.stdout.write(`${formatReport(results)}${seconds} s, seed ${seed}\n`);
  if (hasFaults(results)) process.exitCode = 1;
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new Error(`Expected a number, not ${JSON.stringify(text)}.`);
}

async function playAll(plans: readonly RoundPlan[], houses: number): Promise<RoundResult[]> {
  await using upstream = await startUpstream(join(import.meta.dirname, 'faults', 'upstream.ts'));
  await using lanes = new AsyncDisposableStack();
  const street: FaultHouse[] = [];
  // Starts one after the other: if one start fails, no other house is left that is still starting.
  while (street.length < houses) {
    street.push(lanes.use(await startFaultHouse(upstream.baseUrl)));
  }
  const waiting = [...plans];
  return (await Promise.all(street.map((house) => playLane(waiting, house)))).flat();
}

/** Plays the rounds of one house, one after the other. */
async function playLane(waiting: RoundPlan[], house: FaultHouse): Promise<RoundResult[]> {
  const results: RoundResult[] = [];
  for (let plan = waiting.shift(); plan; plan = waiting.shift()) {
    const pause = sleep(ROUND_MS);
    const result = await playRound(house, plan);
    for (const { fault, detail } of result.faults) {
      process.stderr.write(`${fault}: ${JSON.stringify(plan)}: ${detail}\n`);
    }
    results.push(result);
    await pause;
  }
  return results;
}
