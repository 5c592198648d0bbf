/** Builds the command lines that messages suggest: each must work in the person's current folder. */
import { realpathSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { INSTALLED_ROOT } from '../../local/own-root.ts';
import { shellWord } from '../../machine/shell-word.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';

const PROGRAM = join(INSTALLED_ROOT, 'bin', 'drawbridge.mjs');

/** This program with these arguments: by its name if the shell or npx finds it, else by its file. */
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
  return ['node', PROGRAM];
}

/** Whether `npx` without `--package` finds this `node_modules/.bin` in the current folder or above. */
function isFoundByNpx(folder: string): boolean {
  const project = join(folder, '..', '..');
  return `${process.cwd()}${sep}`.startsWith(join(project, sep));
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
