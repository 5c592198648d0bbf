/** Builds the command lines that messages suggest: each must work in the person's current folder. */
import { realpathSync } from 'node:fs';
import { delimiter, join, relative, sep } from 'node:path';
import { INSTALLED_ROOT } from '../../local/own-root.ts';
import { shellWord } from '../../machine/shell-word.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';

const PROGRAM = join(INSTALLED_ROOT, 'bin', 'drawbridge.mjs');

/** This program with these arguments: by its name if the shell or npx finds it, else by its file, seen from here. */
export function ownCommand(...words: readonly string[]): string {
  return commandLine([...nameHere(), ...words]);
}

function nameHere(): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.filter((folder) => folder !== '' && isOwn(join(folder, 'drawbridge')));
  // npm and npx put these folders on the path of what they run. The person's shell does not have them.
  const isNpmOnly = (folder: string) => folder.endsWith(join('node_modules', '.bin'));
  if (!found.every(isNpmOnly)) return ['drawbridge'];
  // Elsewhere npx would ask the registry, which may have another program of this name.
  if (found.some(isFoundByNpx)) return ['npx', 'drawbridge'];
  const path = relative(personsFolder(), PROGRAM);
  if (!path.includes(sep)) return [`.${sep}${path}`];
  return [path.length < PROGRAM.length ? path : PROGRAM];
}

/**
 * The folder in which the person has typed the command. npm runs a script in the package's folder, and INIT_CWD names
 * the person's; elsewhere INIT_CWD may be stale.
 */
export function personsFolder(): string {
  const { npm_lifecycle_event: npmScript, INIT_CWD: folder } = process.env;
  return npmScript && folder && process.cwd() === INSTALLED_ROOT ? folder : process.cwd();
}

/**
 * A message of ours with the commands in it as the person can type them. Servers, bridges and `local/`, which know no
 * shell, name the command `drawbridge`, in backticks. Errors and notices pass through here; a model's text never does.
 */
export function asTyped(message: string): string {
  return message.replaceAll('`drawbridge ', () => `\`${ownCommand()} `);
}

/** Whether `npx` without `--package` finds this `node_modules/.bin` in the current folder or above. */
function isFoundByNpx(folder: string): boolean {
  const project = join(folder, '..', '..');
  return `${personsFolder()}${sep}`.startsWith(join(project, sep));
}

function isOwn(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(PROGRAM);
  } catch {
    return false; // The file does not exist.
  }
}

/** Words quoted for a shell. */
export function commandLine(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

/** A word with invisible characters is written as `$'…'`, which bash, zsh and most other shells read. */
function quote(word: string): string {
  if (/^[\w./:@=+-]+$/.test(word)) return word;
  if (inOneLine(word) === word) return shellWord(word);
  const escaped = word
    .replaceAll(/['\\]/g, '\\$&')
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, octalOf);
  return `$'${escaped}'`;
}

function octalOf(character: string): string {
  return Array.from(
    Buffer.from(character),
    (byte) => `\\${byte.toString(8).padStart(3, '0')}`,
  ).join('');
}
