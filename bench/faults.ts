/** `npm run bench:faults`: kills a running house repeatedly and checks what is lost. See `--help`. */

import { randomInt } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LOCAL_LIMITS } from '../local/limits.ts';
import { type ActPlan, planAct, playAct } from './faults/acts.ts';
import { type FaultHouse, startFaultHouse } from './faults/house.ts';
import { formatReport, hasFaults } from './faults/report.ts';
import { planRound, playRound, type RoundPlan, type RoundResult, SLOW_MS } from './faults/round.ts';
import { ACTS, SCENARIOS } from './faults/scenarios.ts';
import { Random } from './fuzz/random.ts';
import { openInstalled } from './installed.ts';
import { startUpstream } from './upstream-process.ts';

const HELP = `Usage: npm run bench:faults [-- --runs N] [--seed N] [--houses N] [--only KINDS] [--node PATH]

Runs Drawbridge as npm start does, a few of it side by side, and ends workerd, the bridge or both with SIGKILL: while text
streams, while a call runs, while an approval waits, while subagents work, while nothing happens, and in the middle of
forks, deletions of accounts, exports, unwatched agents with a webhook, and undos. Prints what the kills hit, how long it
took until the client heard something again, and how many messages were lost, commands doubled, texts changed and runs
stuck. The exit code is 1 when any of these is not 0. The same seed plans the same rounds; when exactly a kill comes is
the machine's affair. Linux only.

  --only KINDS  of these rounds, play only those of some kinds, for example tree,approval
  --node PATH   run the server, the bridge and the CLI on this Node, as an installed package does
`;

/** One kill in each round: too few in a window for a crash loop. */
const ROUND_MS = Math.ceil(LOCAL_LIMITS.crashWindowMs / (LOCAL_LIMITS.maxCrashes - 2));

const KINDS = [...SCENARIOS, ...ACTS];

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(randomInt(2 ** 31)) },
      houses: { type: 'string', default: '4' },
      only: { type: 'string', default: KINDS.join() },
      node: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const [runs, seed, houses] = [values.runs, values.seed, values.houses].map(numberOf);
  const only = values.only.split(',');
  const unknown = only.find((kind) => !KINDS.some((known) => known === kind));
  if (unknown !== undefined) throw new Error(`There is no kind ${unknown}: ${KINDS.join(', ')}.`);
  process.stderr.write(`seed ${seed}, ${runs} runs, ${houses} houses\n`);
  const random = new Random(seed ?? 0);
  // Every second round is about more than one answer.
  const plans = Array.from({ length: runs ?? 0 }, (_, round) =>
    round % 2 === 0 ? planRound(round, random) : planAct(round, random),
  );
  const chosen = plans.filter((plan) => only.includes('act' in plan ? plan.act : plan.scenario));
  using program = values.node === undefined ? undefined : await openInstalled(values.node);
  const startedMs = performance.now();
  const results = await playAll(chosen, houses ?? 1, program?.words);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  process.stdout.write(
    `${formatReport(results)}${seconds} s, seed ${seed}, Node ${program?.version ?? process.version}\n`,
  );
  if (hasFaults(results)) process.exitCode = 1;
}

function numberOf(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new Error(`Expected a number, not ${JSON.stringify(text)}.`);
}

type Plan = RoundPlan | ActPlan;

async function playAll(
  plans: readonly Plan[],
  houses: number,
  program?: readonly [string, ...string[]],
): Promise<RoundResult[]> {
  await using upstream = await startUpstream(join(import.meta.dirname, 'faults', 'upstream.ts'));
  await using lanes = new AsyncDisposableStack();
  const street: FaultHouse[] = [];
  // Starts one after the other: if one start fails, no other house is left that is still starting.
  while (street.length < houses) {
    street.push(lanes.use(await startFaultHouse(upstream.baseUrl, 'idle-0', program)));
  }
  const waiting = [...plans];
  return (await Promise.all(street.map((house) => playLane(waiting, house)))).flat();
}

/** Plays the rounds of one house, one after the other. */
async function playLane(waiting: Plan[], house: FaultHouse): Promise<RoundResult[]> {
  const results: RoundResult[] = [];
  for (let plan = waiting.shift(); plan; plan = waiting.shift()) {
    const pause = sleep(ROUND_MS);
    const result = await ('act' in plan ? playAct(house, plan) : playRound(house, plan));
    for (const { fault, detail } of result.faults) {
      process.stderr.write(`${fault}: ${JSON.stringify(plan)}: ${detail}\n`);
    }
    if (result.tookMs > SLOW_MS) {
      const [load = 0] = loadavg();
      const took = `${(result.tookMs / 1000).toFixed(0)} s at load ${load.toFixed(0)}`;
      process.stderr.write(`slow: ${JSON.stringify(plan)}: ${took}\n`);
    }
    results.push(result);
    await pause;
  }
  return results;
}
