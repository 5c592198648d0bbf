/** `drawbridge doctor`: checks everything that Drawbridge needs here, and says what to do. */
import type { Command } from 'commander';
import { readWranglerConfig } from '../../local/runtime/wrangler-config.ts';
import { askServer } from '../../local/server/control-client.ts';
import type { Programs } from '../../local/server/worker.ts';
import type { StateLocation } from '../../local/state/folder.ts';
import { findInstance } from '../../local/state/running.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import { findLocation } from '../target/location-options.ts';
import { addTargetOptions, findTarget, type TargetOptions } from '../target/target.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { foldedAt } from '../terminal/short-line.ts';
import { jsonLine, openTerminal, type Terminal } from '../terminal/terminal.ts';
import { bad, type CheckResult, good, note } from './finding.ts';
import {
  checkClock,
  checkProgram,
  checkSettings,
  checkState,
  checkWorkspace,
} from './machine-checks.ts';
import { checkModels, checkServer } from './network-checks.ts';

interface DoctorOptions extends TargetOptions {
  readonly json: boolean;
}

export function registerDoctor(program: Command, programs: Programs): void {
  const command = program
    .command('doctor')
    .description('Check everything that Drawbridge needs on this machine, and say what to do')
    .option('--json', 'print each finding as a line of JSON', false);
  addTargetOptions(command).action((options: DoctorOptions) => doctor(options, programs));
}

async function doctor(options: DoctorOptions, programs: Programs): Promise<void> {
  const terminal = openTerminal(process, process.env, { machine: options.json });
  const { writeOut } = terminal;
  const ending = abortOnInterrupt();
  let isGood = true;
  for (const findings of await startChecks(options, programs, ending)) {
    for (const finding of await findings) {
      isGood &&= finding.verdict !== 'bad';
      writeOut(options.json ? jsonLine(finding) : textOf(finding, terminal));
    }
    ending.throwIfAborted();
  }
  if (!isGood) process.exitCode = EXIT.failure;
}

/** All checks run at once; their findings are shown in this order. */
async function startChecks(
  options: DoctorOptions,
  { wranglerConfig }: Programs,
  ending: AbortSignal,
): Promise<Promise<CheckResult[]>[]> {
  const location = await findLocation(options, 'running');
  const { compatibilityDate } = await readWranglerConfig(wranglerConfig);
  const checks: Readonly<Record<string, (signal: AbortSignal) => Promise<CheckResult[]>>> = {
    program: checkProgram,
    settings: checkSettings,
    state: () => checkState(location),
    clock: () => checkClock(location, compatibilityDate),
    workspace: () => checkWorkspace(location),
    model: checkModels,
    server: (signal) => checkOwnServer(location, options, signal),
  };
  return Object.entries(checks).map(([about, check]) => checked(about, check, ending));
}

/** A check that throws has found something, and one that hangs too. */
async function checked(
  about: string,
  check: (signal: AbortSignal) => Promise<CheckResult[]>,
  ending: AbortSignal,
): Promise<CheckResult[]> {
  const late = AbortSignal.timeout(CLI_LIMITS.checkMs);
  try {
    return await check(AbortSignal.any([ending, late]));
  } catch (error) {
    ending.throwIfAborted();
    if (late.aborted) return [bad(about, 'The check timed out.')];
    return [bad(about, describeFailure(error))];
  }
}

async function checkOwnServer(
  location: StateLocation,
  options: DoctorOptions,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const isElsewhere = options.url !== undefined || options.token !== undefined;
  const instance = isElsewhere ? undefined : await findInstance(location);
  if (!isElsewhere && !instance) {
    return [note('server', 'None runs here.', `\`${ownCommand()}\` starts one.`)];
  }
  const findings = await checkServer(await findTarget(options), signal);
  return instance?.control ? [...findings, await runningModel(instance.control)] : findings;
}

/** A server keeps the model that it was started with, whatever the settings of this shell are. */
async function runningModel(control: string): Promise<CheckResult> {
  const { server } = await askServer(control, { ask: 'status' }, 'status');
  return good('model', `The running server answers with ${server.model.text}.`);
}

const MARKS = { good: ['green', 'ok  '], note: ['yellow', 'note'], bad: ['red', 'bad '] } as const;
const ABOUT_COLUMNS = 10;

function textOf(
  { about, verdict, says, advice }: CheckResult,
  { paint, columns }: Pick<Terminal, 'paint' | 'columns'>,
): string {
  const [style, mark] = MARKS[verdict];
  const indent = ABOUT_COLUMNS + 7;
  const folded = (text: string) => foldedAt(text, columns, indent);
  const line = `${paint(style, mark)}  ${about.padEnd(ABOUT_COLUMNS)} ${folded(inOneLine(says))}\n`;
  return advice === undefined ? line : `${line}${' '.repeat(indent)}${folded(advice)}\n`;
}
