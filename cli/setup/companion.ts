/** `drawbridge companion`: lets Gemini CLI and Qwen Code connect to the bridge as their IDE. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { locateState } from '../../local/state/folder.ts';
import { openState } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import type { RunningCompanion } from '../../packages/editors/settings.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../limits.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from '../target/location-options.ts';
import { commandLine, ownCommand } from '../terminal/own-command.ts';
import { printOut } from '../terminal/print.ts';
import { openTerminal, type Terminal } from '../terminal/terminal.ts';

/** Without a subcommand it shows the state. */
export function registerCompanion(program: Command): void {
  const group = program
    .command('companion')
    .description('Let Gemini CLI and Qwen Code use the bridge as their IDE')
    .addHelpText('after', `\nWithout a command it shows whether it is on.`);
  const status = group
    .command('status', { isDefault: true })
    .description('Show whether it is on, and how a CLI connects');
  addLocationOptions(status).action(tellStatus);
  const on = group.command('on').description('Turn it on, now and at each start of the bridge');
  addLocationOptions(on).action(turnOn);
  const off = group.command('off').description('Turn it off');
  addLocationOptions(off).action(turnOff);
  const env = group
    .command('env')
    .description('Print the variables for the shell of a CLI, for eval');
  addLocationOptions(env).action(printVariables);
}

async function tellStatus(options: LocationOptions): Promise<void> {
  const { readEnabled } = await import('../../packages/editors/settings.ts');
  const { projectDir: stateDir } = await locateState(await findLocation(options, 'kept'));
  const terminal = openTerminal(process, process.env);
  if (await readEnabled(stateDir)) return await tellOn(terminal, stateDir, options);
  const turnsOn = ownCommand('companion', 'on', ...locationWordsOf(options));
  terminal.writeOut(`The companion is off. \`${turnsOn}\` turns it on.\n`);
}

async function turnOn(options: LocationOptions): Promise<void> {
  const { isBridgeRunning, writeEnabled } = await import('../../packages/editors/settings.ts');
  // A state folder that has never been used must become a whole one.
  const { projectDir: dir } = await openState(await findLocation(options, 'kept'));
  writeEnabled(dir, true);
  if (isBridgeRunning(dir)) await waitForCompanion(dir);
  await tellOn(openTerminal(process, process.env), dir, options);
}

async function turnOff(options: LocationOptions): Promise<void> {
  const { writeEnabled } = await import('../../packages/editors/settings.ts');
  const { projectDir: dir } = await openState(await findLocation(options, 'kept'));
  writeEnabled(dir, false);
  openTerminal(process, process.env).writeOut('The companion is off.\n');
}

async function printVariables(options: LocationOptions): Promise<void> {
  const { isBridgeRunning, readEnabled } = await import('../../packages/editors/settings.ts');
  const { projectDir: stateDir } = await locateState(await findLocation(options, 'kept'));
  const turnsOn = ownCommand('companion', 'on', ...locationWordsOf(options));
  // A bridge that follows an `off` within two seconds still has its companion's variables on disk.
  if (!(await readEnabled(stateDir)))
    throw new LocalError('refused', `The companion is off: \`${turnsOn}\` turns it on.`);
  const running = await findRunning(stateDir);
  if (running) return void printOut(exportsOf(running.variables));
  throw new LocalError('refused', isBridgeRunning(stateDir) ? NOT_STARTED : NO_BRIDGE);
}

/** For a shell: `eval "$(drawbridge companion env)"`. */
function exportsOf(variables: RunningCompanion['variables']): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${commandLine([`${name}=${value}`])}\n`)
    .join('');
}

async function tellOn(
  { writeOut }: Terminal,
  stateDir: string,
  options: LocationOptions,
): Promise<void> {
  const { isBridgeRunning } = await import('../../packages/editors/settings.ts');
  const running = await findRunning(stateDir);
  if (running === undefined)
    return writeOut(
      `The companion is on. ${isBridgeRunning(stateDir) ? NOT_STARTED : NO_BRIDGE}\n`,
    );
  writeOut(`The companion is on, at port ${running.port}. ${HOW_TO_CONNECT}\n`);
  for (const problem of running.problems) writeOut(`${inOneLine(problem)}\n`);
  const printsThem = ownCommand('companion', 'env', ...locationWordsOf(options));
  writeOut(`If a CLI finds another editor, first type in its shell: eval "$(${printsThem})"\n`);
}

const HOW_TO_CONNECT =
  'Start Gemini CLI or Qwen Code in the workspace, and type /ide enable there.';
const NO_BRIDGE = 'It starts with the bridge: none runs for this workspace.';
const NOT_STARTED =
  'The bridge has not started it yet. If it does not start, the log of the bridge says why.';

async function findRunning(stateDir: string): Promise<RunningCompanion | undefined> {
  const { isBridgeRunning, readRunning } = await import('../../packages/editors/settings.ts');
  return isBridgeRunning(stateDir) ? await readRunning(stateDir) : undefined;
}

async function waitForCompanion(stateDir: string): Promise<void> {
  const { companionMs, companionLookMs } = CLI_LIMITS;
  for (let waited = 0; waited < companionMs; waited += companionLookMs) {
    if (await findRunning(stateDir)) return;
    await sleep(companionLookMs);
  }
}
