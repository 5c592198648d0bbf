/** `drawbridge ide install`: puts a companion into an editor, by the editor's own program. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { LocalError } from '../../../machine/local-error.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import { CLI_LIMITS } from '../../limits.ts';
import { askFirst } from '../../terminal/confirm.ts';
import { commandLine, ownCommand } from '../../terminal/own-command.ts';
import { openTerminal } from '../../terminal/terminal.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { detectEditor, EDITORS, type Editor, EXTENSIONS } from './editors.ts';

interface InstallOptions {
  readonly companion: keyof typeof EXTENSIONS;
  readonly yes: boolean;
}

/** Runs the editor's own program, after a yes. Without a name it is the editor whose terminal this is. */
export async function installCompanion(
  name: string | undefined,
  options: InstallOptions,
): Promise<void> {
  const editor = name === undefined ? detectEditor(process.env) : findEditor(name);
  if (editor === undefined)
    throw new UsageError(`This is not the terminal of a known editor: name one of ${NAMES}.`);
  const extension = EXTENSIONS[options.companion];
  const words = [await programOf(editor, extension), '--install-extension', extension, '--force'];
  const terminal = openTerminal(process, process.env);
  terminal.write(`${editor.displayName}: ${commandLine(words)}\n`);
  if (!options.yes) {
    const unasked = '--yes runs it without asking.';
    await askFirst(terminal, 'Run it?', { unasked, otherwise: 'Nothing was installed.' });
  }
  await run(words, editor);
  terminal.write(`Installed. Reload the editor's window, then: ${ownCommand('ide')}\n`);
}

const NAMES = EDITORS.map(({ name }) => name).join(', ');

function findEditor(name: string): Editor {
  const editor = EDITORS.find((each) => each.name === name);
  if (editor) return editor;
  throw new UsageError(`No editor is known as ${nameInLine(name)}: name one of ${NAMES}.`);
}

async function programOf(editor: Editor, extension: string): Promise<string> {
  const { displayName, install } = editor;
  if ('byHand' in install)
    throw new LocalError(
      'refused',
      `drawbridge cannot install into ${displayName}: ${install.byHand}.`,
    );
  const program = await findProgram(install, editor);
  if (program !== undefined) return program;
  const wanted = install.join(' or ');
  throw new LocalError(
    'refused',
    `The command ${wanted} of ${displayName} was not found: put it into PATH, or install ${extension} in its Extensions view.`,
  );
}

/** The absolute path of the editor's command line program; undefined where none is found. */
async function findProgram(
  names: readonly string[],
  { programs = {} }: Editor,
): Promise<string | undefined> {
  // A relative folder in PATH would let the current folder decide.
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((path) => isAbsolute(path));
  const places = [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...(programs[process.platform] ?? []).map((path) => path.replace(/^~/, homedir())),
  ];
  for (const place of places) {
    if (await isProgram(place)) return place;
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // It does not exist, or is not for us to run.
  }
}

/** The editor's own program says how it goes; Ctrl-C ends it as well. */
async function run([program = '', ...args]: readonly string[], editor: Editor): Promise<void> {
  const signal = AbortSignal.timeout(CLI_LIMITS.installMs);
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'], signal });
  const [code] = await once(child, 'close').catch((error: Error) => [error.message]);
  if (code === 0) return;
  throw new LocalError(
    'failed',
    `The installation failed (${code}): install the extension in the Extensions view of ${editor.displayName}.`,
  );
}
