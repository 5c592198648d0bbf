/** `drawbridge ide`: the editor beside the bridge. Shows what was found, and installs what is missing. */
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { locateState } from '../../../local/state/folder.ts';
import { resolveWorkspace } from '../../../local/state/workspace.ts';
import { isLocked } from '../../../machine/lock.ts';
import type { Candidate, Discovery, Probed, SearchPlace } from '../../../packages/editors/index.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../../limits.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from '../../target/location-options.ts';
import { abortOnInterrupt } from '../../terminal/ending.ts';
import { EXIT } from '../../terminal/exit-codes.ts';
import { ownCommand } from '../../terminal/own-command.ts';
import { openTerminal, type Terminal } from '../../terminal/terminal.ts';
import { wholeNumber } from '../../terminal/whole-number.ts';
import { confirmEditor } from './confirm.ts';
import { detectEditor, EDITORS, EXTENSIONS } from './editors.ts';
import { installCompanion } from './install.ts';
import { trustWorkspace } from './trust.ts';

/** Without a subcommand it shows what was found. */
export function registerIde(program: Command): void {
  const group = program
    .command('ide')
    .description(
      'Use the companion extension of an editor, which shows edits and reports open files',
    )
    .addHelpText('after', `\nWithout a command it looks for the editor.`);
  const status = group
    .command('status', { isDefault: true })
    .description('Find the editor of this folder, and say why others were skipped');
  addLocationOptions(status).action(showStatus);
  const confirm = group
    .command('confirm')
    .description('Accept approvals from the editor, until it is started again')
    .option(
      '--port <number>',
      'the one with this port, if several are found',
      wholeNumber(1, 65_535),
    );
  addLocationOptions(confirm).action(confirmEditor);
  const trust = group
    .command('trust')
    .description('Trust this folder again, after an editor reported it as untrusted');
  addLocationOptions(trust).action(trustWorkspace);
  group
    .command('install [editor]')
    .description('Install a companion into an editor (default: the one whose terminal this is)')
    .addOption(
      new Option('--companion <name>', 'the companion of Gemini CLI or of Qwen Code')
        .choices(Object.keys(EXTENSIONS))
        .default('gemini'),
    )
    .option('-y, --yes', 'do not ask first', false)
    .addHelpText('after', `\nEditors: ${EDITORS.map(({ name }) => name).join(', ')}`)
    .action(installCompanion);
}

/** A companion with the outcome of a try. */
type Tried = Candidate & Probed;

async function showStatus(options: LocationOptions): Promise<void> {
  const { discover, placeHere, isConfirmed, prefer } = await import(
    '../../../packages/editors/index.ts'
  );
  const signal = abortOnInterrupt();
  const location = await findLocation(options, 'kept');
  const workspace = await resolveWorkspace(location.workspaceDir);
  const { projectDir: stateDir } = await locateState(location);
  const isRunning = isLocked(join(stateDir, 'journal.jsonl.lock'));
  const place = await placeHere(workspace, process.env, signal);
  const { ranked, passedOver } = await discover(place, signal);
  const isChosen = (candidate: Candidate) => isConfirmed(stateDir, candidate);
  const preferred = await prefer(ranked, isChosen, () => false);
  const tried = await tryAll(preferred, place, isRunning, signal);
  const terminal = openTerminal(process, process.env);
  const taken = tried.find(({ state }) => state !== 'failed');
  for (const each of tried) terminal.writeOut(`${lineOf(each, taken)}\n`);
  for (const { source, why } of passedOver)
    terminal.writeOut(`skipped  ${inLine(`${source}: ${why}`)}\n`);
  if (taken && isRunning) terminal.write(GENTLE);
  if (taken && !(await isChosen(taken)))
    terminal.write(
      `To accept approvals from it: ${ownCommand('ide', 'confirm', ...locationWordsOf(options))}\n`,
    );
  if (!taken) tellMissing(terminal, { tried, passedOver, place });
}

/** Those beyond the limit are tried by the bridge, if all before them fail. */
async function tryAll(
  ranked: readonly Candidate[],
  place: SearchPlace,
  isGentle: boolean,
  signal: AbortSignal,
): Promise<readonly Tried[]> {
  const { hostsFor, probe } = await import('../../../packages/editors/index.ts');
  const hosts = await hostsFor(place, signal);
  return await Promise.all(
    ranked.slice(0, CLI_LIMITS.maxTriedCompanions).map(async (candidate) => ({
      ...candidate,
      ...(await probe(candidate, { hosts, isGentle, signal })),
    })),
  );
}

function lineOf(tried: Tried, taken: Tried | undefined): string {
  const { family, ide, port, pid, roots, summary, source, state } = tried;
  const word = tried === taken ? 'taken' : state === 'failed' ? 'failed' : 'usable';
  const name = ide?.displayName ?? `the editor with the ${COMPANIONS[family]}`;
  const process = pid === undefined ? '' : `, process ${pid}`;
  const folders = roots === undefined ? '; it names no folder' : '';
  const what = `${name}, port ${port}${process}: ${summary}${folders} (${source})`;
  return `${word.padEnd('skipped'.length)}  ${inLine(what)}`;
}

const COMPANIONS = { gemini: 'companion of Gemini CLI', qwen: 'companion of Qwen Code' } as const;

const GENTLE =
  'The bridge is running. Each companion was only asked for an answer, so that the bridge keeps its connection.\n';

/** What to do, from the most specific reason to the most general one. */
function tellMissing(
  terminal: Terminal,
  found: { tried: readonly Tried[]; passedOver: Discovery['passedOver']; place: SearchPlace },
): void {
  process.exitCode = EXIT.failure;
  const { tried, passedOver, place } = found;
  const { workspace, environment, isInContainer } = place;
  const editor = detectEditor(environment);
  const advice = [
    ...(tried.length > 0 ? ['Reload the window of the editor: its companion starts again.'] : []),
    `Open ${workspace} in the editor, as a folder of its window.`,
    ...(passedOver.length > 0 ? [OTHER_WINDOW] : []),
    `Install a companion, if the editor has none: ${ownCommand('ide', 'install')}`,
    ...(editor ? [] : [noEditorHere(environment)]),
    ...(isInContainer ? [IN_CONTAINER] : []),
  ];
  terminal.write('No editor can be used. What may help:\n');
  for (const line of advice) terminal.write(`  ${inLine(line)}\n`);
}

function noEditorHere({ TERM_PROGRAM: terminal }: SearchPlace['environment']): string {
  const here = terminal ? `TERM_PROGRAM is ${terminal}` : 'TERM_PROGRAM is not set';
  return `This is not the terminal of an editor (${here}). There the right window is found by itself.`;
}

const OTHER_WINDOW =
  'To use a window that has another folder open, set DRAWBRIDGE_IDE_PORT to its port.';
const IN_CONTAINER =
  "This is a container. It reaches an editor outside only where host.docker.internal leads to the host's own ports, as with Docker Desktop.";

function inLine(text: string): string {
  return printableLine(text, LINE_CHARS);
}

/** UTF-16 units of a line: a path, and the folders of a window. */
const LINE_CHARS = 2_000;
