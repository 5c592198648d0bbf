/** Runs one attack so many times, in the sandbox, as the user of this process; prints what came of it as JSON. */
import { text } from 'node:stream/consumers';
import { LOOT, makeRoom, RACES } from '../../../../../bench/escapes/attacks.ts';
import type { SandboxSurroundings } from '../../../launch/confinement.ts';
import { BackgroundProcesses } from '../../../terminal/background.ts';
import { runCommand } from '../../../terminal/run-command.ts';
import { realConfinement } from '../../sandboxed-workspace.ts';
import { aboutCommand } from '../../terminal/plain-launch.ts';

interface Order {
  readonly name: string;
  readonly times: number;
  readonly surroundings: SandboxSurroundings;
  readonly isHeld: boolean;
}

export interface Outcome {
  readonly attempts: number;
  /** Attempts that printed a secret. */
  readonly hits: number;
  /** Attempts whose command could not be started, with the first reason. */
  readonly failed: number;
  readonly reason: string;
}

const { name, times, surroundings, isHeld }: Order = JSON.parse(await text(process.stdin));
const attack = RACES.find((race) => race.name === name);
if (attack === undefined) throw new Error(`no attack named ${name}`);
const confinement = await realConfinement(surroundings, { isHeld });
const background = new BackgroundProcesses();
const signal = new AbortController().signal;
const onOutput = () => {};

const asked = { cwd: surroundings.workspace, permissions: [], conversationId: 'conv_test' };
const start = (command: string) =>
  confinement.start({ ...asked, command }, ({ launch }) =>
    runCommand(launch, { timeoutMs: 20_000, onOutput, signal }),
  );

await start(attack.prepare ?? 'true');
const swapper = `exec perl -e '${attack.swapper}'`;
await confinement.start({ ...asked, command: swapper }, ({ launch }) =>
  background.start(launch, { about: aboutCommand(swapper), onOutput, signal }),
);
let hits = 0;
let failed = 0;
let reason = '';
for (let index = 0; index < times; index++) {
  try {
    const { output } = await start(`{ ${attack.attempt(index)}; } 2>/dev/null; echo end`);
    if (output.includes(LOOT)) hits++;
    if (!output.endsWith('end\n')) throw new Error(output.slice(0, 200));
    await makeRoom(surroundings.workspace, index);
  } catch (error) {
    failed++;
    if (reason === '') reason = error instanceof Error ? error.message : String(error);
  }
}
await background.endAll();
const outcome: Outcome = { attempts: times, hits, failed, reason };
process.stdout.write(JSON.stringify(outcome), () => process.exit(0));
