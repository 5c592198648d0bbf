/** Decides about a command line. */
import { type Permission, runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { type Command, type CommandLine, parseCommandLine } from './command-line.ts';
import { lineReadingsOf, type Readings, readingsOf } from './readings.ts';
import {
  findDecidingRules,
  type Rulebook,
  type Subject,
  strictRulesFor,
  verdictsOf,
} from './rulebook.ts';
import type { Rule } from './rules.ts';
import { allow, ask, strictestOf, type Verdict } from './verdict.ts';

export interface JudgedCommand {
  readonly command: string;
  readonly permissions?: readonly Permission[] | undefined;
}

/** How commands are confined, and what they may have inside the sandbox. */
export interface CommandSurroundings {
  readonly isConfined: boolean;
  /** Lets confined commands use the network without a question. Without a sandbox it has no effect. */
  readonly trustsNetwork?: boolean;
}

/**
 * Judges each command of a line on its own; the strictest verdict counts. Rules that forbid or ask apply to every
 * reading of a command. The owner's `allow` applies only to a plain line as written: an owner who allowed `npm test*`
 * did not mean `npm test > ~/.profile`. It never replaces the question about the permission `all`, because a person
 * grants `all` for one call, not for a pattern.
 */
export function judgeCommand(
  { command: text, permissions = [] }: JudgedCommand,
  book: Rulebook,
  surroundings: CommandSurroundings,
): Verdict {
  const line = parseCommandLine(text);
  const isRead = strictRulesFor(book, runTerminalCmd).length > 0;
  const subjects = line.commands.map((command) =>
    subjectOf(command, line.isPlain, isRead ? readingsOf(command) : []),
  );
  const builtIn = builtInVerdict(permissions, surroundings);
  return strictestOf([
    ...subjects.flatMap((subject) => verdictsOn(subject, book, builtIn, permissions)),
    ...verdictsOnLine(text, line, book),
    ...(isRead && !(line.isWhole && subjects.every(({ isComplete }) => isComplete))
      ? [TANGLED]
      : []),
  ]);
}

interface CommandSubject extends Subject {
  /** Whether the readings are complete. */
  readonly isComplete: boolean;
}

function subjectOf({ text }: Command, canBeAllowed: boolean, readings: Readings): CommandSubject {
  return { text, readings: readings ?? [], canBeAllowed, isComplete: readings !== undefined };
}

function verdictsOn(
  subject: Subject,
  book: Rulebook,
  builtIn: Verdict,
  permissions: readonly Permission[],
): Verdict[] {
  const { owners, workspaces } = findDecidingRules(book, runTerminalCmd, subject);
  const canDecide = owners?.decision !== 'allow' || !permissions.includes('all');
  return verdictsOf({ owners: canDecide ? owners : undefined, workspaces }, builtIn);
}

function builtInVerdict(
  permissions: readonly Permission[],
  { isConfined, trustsNetwork = false }: CommandSurroundings,
): Verdict {
  const wanted = permissions.length === 0 ? '' : ` It asks for ${permissions.join(', ')}.`;
  if (!isConfined) return ask(`No sandbox holds commands on this machine.${wanted}`);
  if (wanted === '') return allow('Commands are allowed in the sandbox.');
  const isTrusted = trustsNetwork && permissions.every((permission) => permission === 'network');
  return isTrusted ? allow('The network is allowed in the sandbox.') : ask(wanted.trim());
}

/** A pattern that itself joins commands, such as `curl * | sh*`, applies to the line as a whole. */
function verdictsOnLine(text: string, line: CommandLine, book: Rulebook): Verdict[] {
  const spanning = {
    userRules: book.userRules.filter(spansCommands),
    workspaceRules: book.workspaceRules.filter(spansCommands),
  };
  if (strictRulesFor(spanning, runTerminalCmd).length === 0) return [];
  const subject = { text, readings: lineReadingsOf(line) ?? [], canBeAllowed: line.isPlain };
  return verdictsOf(
    findDecidingRules(spanning, runTerminalCmd, subject, withoutBlanksAroundOperators),
    allow('No rule is about the whole line.'),
  );
}

function spansCommands({ pattern }: Rule): boolean {
  return /[;&|\n]/.test(pattern);
}

/** Writes the pattern like the readings of a line. */
function withoutBlanksAroundOperators(pattern: string): string {
  const words = pattern.split(' ').filter((word) => word !== '');
  return words.join(' ').replace(/ ?([;&|\n]+) ?/g, '$1');
}

/** Used only where rules forbid or ask. Without them no rule can be missed. */
const TANGLED = ask('This line is too complex or not complete, so rules may miss a command in it.');
