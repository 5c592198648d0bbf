/**
 * Reads ignore files for ripgrep. ripgrep would open each by name, and could wait for a pipe for ever. This file reads
 * only regular files of a sensible size, and follows no link, as git does.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Turns } from '../../../machine/compute/turns.ts';
import { isSystemError } from '../../../machine/system-error.ts';
import { rulesFromAbove, rulesFromBelow, TOOL_IGNORE_FILES } from '../../workspace/index.ts';
import { SEARCH_LIMITS } from './limits.ts';

/**
 * From the weakest on: as in ripgrep, a rule of a later kind overrides all rules of earlier kinds. Those that close
 * paths only save ripgrep work: `Workspace.mayName` decides on what it finds.
 */
export const IGNORE_FILES = [...TOOL_IGNORE_FILES, '.gitignore', '.ignore', '.rgignore'] as const;

/** Rules by kind, each list from the weakest on. The first kind holds the person's and the repository's own rules. */
export type IgnoreRules = readonly [
  general: readonly string[],
  ...kinds: readonly (readonly string[])[],
];

/**
 * The rules for ripgrep. Those of files that close paths come first, even before the person's own: what they open may
 * still be ignored by git.
 */
export function toRuleText([general, ...kinds]: IgnoreRules): string {
  const closing = kinds.slice(0, TOOL_IGNORE_FILES.length);
  return [...closing, general, ...kinds.slice(closing.length)].flat().join('\n');
}

/** An entry that stands in the place of an ignore file. `kind` completes the sentence "It is ...". */
export interface OddFile {
  readonly path: string;
  readonly kind: string;
}

/** What was found at the path of an ignore file: its text, nothing, or something else. */
type FoundIgnoreFile =
  | { readonly state: 'text'; readonly text: string }
  | { readonly state: 'none' }
  | { readonly state: 'odd'; readonly kind: string };

/**
 * The rules that apply in a folder: its own and those of the folders above, up to the top of the repository, or of the
 * disk without a repository. `odd` lists the entries that stand in the place of ignore files and were skipped.
 */
export function readRulesAbove(folder: string): { rules: IgnoreRules; odd: readonly OddFile[] } {
  const folders = foldersAbove(folder);
  const top = folders[0] ?? folder;
  const own = readRuleFile(join(top, '.git', 'info', 'exclude'));
  const general = [...readPersonalRules(), ...rebase(own, top, folder)];
  const odd: OddFile[] = [];
  const kinds: string[][] = [];
  for (const name of IGNORE_FILES) {
    const rules: string[] = [];
    for (const each of folders) {
      const path = join(each, name);
      const found = readRuleFile(path);
      for (const rule of rebase(found, each, folder)) rules.push(rule);
      if (found.state === 'odd') odd.push({ path, kind: found.kind });
    }
    kinds.push(rules);
  }
  return { rules: [general, ...kinds], odd };
}

/** Adds the rules of files below the folder. `names` are their paths relative to the folder. */
export async function withRulesBelow(
  [general, ...kinds]: IgnoreRules,
  folder: string,
  names: readonly string[],
): Promise<IgnoreRules> {
  const byDepth = [...names].sort((a, b) => a.split('/').length - b.split('/').length);
  const added: string[][] = IGNORE_FILES.map(() => []);
  let left = SEARCH_LIMITS.maxIgnoreBytes;
  const turns = new Turns();
  for (const name of byDepth) {
    if (turns.isDue) await turns.take();
    // The folder's own file was already read with those above.
    const found = dirname(name) === '.' ? NONE : readRuleFile(join(folder, name));
    if (found.state !== 'text' || found.text.length > left) continue;
    left -= found.text.length;
    const kind = IGNORE_FILES.indexOf(basename(name) as (typeof IGNORE_FILES)[number]);
    for (const rule of rulesFromBelow(found.text, dirname(name))) added[kind]?.push(rule);
  }
  return [general, ...kinds.map((rules, kind) => [...rules, ...(added[kind] ?? [])])];
}

const NONE: FoundIgnoreFile = { state: 'none' };

/** From the top of the repository down to the folder itself. */
function foldersAbove(folder: string): string[] {
  const folders = [folder];
  for (let each = folder; !isThere(join(each, '.git')) && dirname(each) !== each; ) {
    each = dirname(each);
    folders.unshift(each);
  }
  return folders;
}

/** False also where a folder on the way cannot be entered. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function rebase(found: FoundIgnoreFile, from: string, folder: string): string[] {
  if (found.state !== 'text') return [];
  const names = folder.slice(from.length).split('/').filter(Boolean);
  return names.length === 0 ? rulesFromBelow(found.text, '') : rulesFromAbove(found.text, names);
}

/** The rules that git applies for this person everywhere. */
function readPersonalRules(): string[] {
  const config = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  for (const file of [join(homedir(), '.gitconfig'), join(config, 'git', 'config')]) {
    const found = readRuleFile(file);
    const named = found.state === 'text' ? EXCLUDES_FILE.exec(found.text)?.[1] : undefined;
    if (named !== undefined) return textLines(readRuleFile(named.replace(/^~(?=\/)/, homedir())));
  }
  return textLines(readRuleFile(join(config, 'git', 'ignore')));
}

const EXCLUDES_FILE = /^\s*excludesfile\s*=\s*"?\s*([^\n"]*\S)\s*"?\s*$/im;

function textLines(found: FoundIgnoreFile): string[] {
  return found.state === 'text' ? rulesFromBelow(found.text, '') : [];
}

/**
 * Never waits and never reads without end, whatever stands at the path. A file that cannot be opened counts as absent.
 */
function readRuleFile(path: string): FoundIgnoreFile {
  // Nearly all are absent, and a failed `open` costs several times as much as this look.
  if (!isThere(path)) return NONE;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    return readRules(openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  } catch (error) {
    if (isSystemError(error, 'ELOOP')) return { state: 'odd', kind: 'a symbolic link' };
    if (isSystemError(error, 'ENXIO')) return { state: 'odd', kind: 'a socket' };
    return NONE;
  }
}

/** Closes the file. */
function readRules(file: number): FoundIgnoreFile {
  try {
    const stats = fstatSync(file);
    if (stats.isFIFO()) return { state: 'odd', kind: 'a pipe' };
    if (stats.isDirectory()) return { state: 'odd', kind: 'a folder' };
    if (!stats.isFile()) return { state: 'odd', kind: 'a device' };
    if (stats.size > SEARCH_LIMITS.maxIgnoreBytes) return { state: 'odd', kind: 'far too large' };
    const bytes = Buffer.alloc(stats.size);
    const length = readSync(file, bytes, 0, bytes.length, 0);
    return { state: 'text', text: bytes.toString('utf8', 0, length).replace(/^\uFEFF/, '') };
  } finally {
    closeSync(file);
  }
}
