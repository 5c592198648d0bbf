/**
 * Finds commands that delete or discard work, as far as the line shows it. Such a command asks a person wherever it
 * runs; what a program does by itself stays unseen, so this prevents nothing.
 */

import { literalStart } from '../../shared/text/wildcard.ts';
import { type Command, parseCommandLine } from './command-line.ts';
import { type Readings, readingsOf } from './readings.ts';

/** What the command may destroy, in one sentence for the person. Undefined where the line shows nothing of that kind. */
export function lossOf(readings: Readings, { isConfined }: { readonly isConfined: boolean }) {
  for (const reading of readings ?? []) {
    const [name = '', ...args] = reading.split(' ');
    if (!LOSSES.get(name)?.(args)) continue;
    // A confined command has a /tmp of its own.
    if (name === 'rm' && isConfined && isTemporary(operandsOf(args))) continue;
    const shown = name === 'git' ? `git ${args[0]}` : name;
    return `${shown} can delete work that undo may not bring back.`;
  }
  return undefined;
}

/**
 * The paths that the command deletes, as they stand in the line, where all of them do: those of a plain `rm` or
 * `unlink`. Undefined for any other command.
 */
export function deletedBy({ words, certainWords }: Command): readonly string[] | undefined {
  const [name = '', ...args] = words;
  if (!['rm', 'unlink'].includes(name) || words.length !== certainWords.length) return undefined;
  const end = args.indexOf('--');
  const [before, after] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  if (optionsOf(before).some((option) => !PLAIN_OPTION.test(option))) return undefined;
  const paths = [...operandsOf(before), ...after];
  return paths.some((path) => path === '' || EXPANDED.test(path)) ? undefined : paths;
}

const PLAIN_OPTION = /^(?:-[rRfvd]+|--(?:recursive|force|verbose|dir))$/;

/** Also where quotes keep a shell from it. */
const EXPANDED = /[*?[\]{}~$`\\]/;

/** Whether the pattern itself names such a command: `git *` does not mean `git clean`. */
export function namesLoss(pattern: string): boolean {
  const { commands } = parseCommandLine(literalStart(pattern));
  return commands.some((command) => lossOf(readingsOf(command), { isConfined: false }));
}

type IsLoss = (args: readonly string[]) => boolean;

const always: IsLoss = () => true;
const unlessHelp: IsLoss = (args) => !isExactly(args, '', '--help', '--version');

/** By the program's name. Behind `xargs`, `rm` has no operand in the line. */
const LOSSES: ReadonlyMap<string, IsLoss> = new Map([
  ['rm', unlessHelp],
  ['unlink', unlessHelp],
  ['shred', unlessHelp],
  ['truncate', unlessHelp],
  ['find', (args) => args.includes('-delete')],
  ['rsync', (args) => has(args, '', '--delete', '--remove-source-files')],
  ['git', ([command = '', ...args]) => GIT_LOSSES.get(command)?.(args) === true],
]);

const GIT_LOSSES: ReadonlyMap<string, IsLoss> = new Map([
  ['branch', (args) => has(args, 'DMCf', '--force')],
  ['checkout', discardsFiles],
  ['checkout-index', (args) => has(args, 'f', '--force')],
  ['clean', (args) => !isExactly(args, 'n', '--dry-run')],
  ['filter-branch', always],
  ['filter-repo', always],
  ['gc', (args) => has(args, '', '--prune')],
  ['prune', (args) => !isExactly(args, 'n', '--dry-run')],
  [
    'push',
    (args) =>
      has(args, 'fd', '--force', '--delete', '--mirror', '--prune') ||
      operandsOf(args).some((operand) => /^[+:]/.test(operand)),
  ],
  ['read-tree', (args) => has(args, 'u', '--reset')],
  ['reflog', ([action = '']) => ['delete', 'expire'].includes(action)],
  ['reset', (args) => has(args, '', '--hard', '--merge')],
  ['restore', (args) => !isExactly(args, 'S', '--staged') || has(args, 'W', '--worktree')],
  ['rm', (args) => !isExactly(args, '', '--cached')],
  ['stash', ([action = '']) => ['clear', 'drop'].includes(action)],
  ['switch', (args) => has(args, 'fC', '--force', '--discard-changes', '--force-create')],
  ['tag', (args) => has(args, 'df', '--delete', '--force')],
  ['update-ref', (args) => has(args, 'd', '--stdin')],
  ['worktree', ([action = '']) => action === 'remove'],
]);

/** A single name is taken for a branch, unless it looks like a path: only git knows which it is. */
function discardsFiles(args: readonly string[]): boolean {
  if (has(args, 'fBp', '--force', '--ours', '--theirs', '--patch')) return true;
  if (has(args, 'bt', '--orphan', '--track')) return false;
  const [first = '', ...others] = operandsOf(args);
  if (args.includes('--')) return true;
  return others.length > 0 || /^\.|[*?/]$|\.[a-z]\w*$/i.test(first);
}

/**
 * Whether an option is there: one of the letters, or one of the long names. Git takes the beginning of a long name for
 * it, and some options begin like another (`--force-with-lease`).
 */
function has(args: readonly string[], letters: string, ...names: readonly string[]): boolean {
  return optionsOf(args).some((option) => {
    if (!option.startsWith('--')) return [...letters].some((letter) => option.includes(letter));
    return (
      option.length > 3 && names.some((name) => name.startsWith(option) || option.startsWith(name))
    );
  });
}

/** The same for an option that makes a command harmless: the name is whole. */
function isExactly(args: readonly string[], letter: string, ...names: readonly string[]): boolean {
  // Not behind a letter that may take the rest as its value.
  const short = new RegExp(`^-[dfiqxXW]*${letter}`);
  return optionsOf(args).some(
    (option) => names.includes(option) || (letter !== '' && short.test(option)),
  );
}

function optionsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  return before.filter((arg) => /^-./.test(arg)).map((arg) => arg.replace(/=.*/s, ''));
}

/** All arguments that are no options. The value of an option counts, too. */
function operandsOf(args: readonly string[]): readonly string[] {
  return args.filter((arg) => !/^-./.test(arg));
}

function isTemporary(operands: readonly string[]): boolean {
  return (
    operands.length > 0 && operands.every((path) => /^\/(?:var\/)?tmp\/(?!.*\.\.)./.test(path))
  );
}
