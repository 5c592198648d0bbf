/** Decides about a command line. */

import type { ClosedToGit } from '../../packages/workspace/index.ts';
import { hostWords } from '../../shared/tools/registries.ts';
import type { Permission } from '../../shared/tools/run-terminal-cmd.ts';
import { type Command, type CommandLine, parseCommandLine } from './command-line.ts';
import { revealsIn } from './committed-content.ts';
import { fedCommands } from './fed.ts';
import { deletedBy, lossOf, namesLoss } from './losses.ts';
import { judgeHosts } from './network-verdict.ts';
import { lineReadingsOf, readingsOf } from './readings.ts';
import type { NamedTool } from './rule-names.ts';
import {
  findDecidingRules,
  type Rulebook,
  type Subject,
  strictRulesFor,
  verdictsOf,
} from './rulebook.ts';
import type { Rule } from './rules.ts';
import { allow, ask, strictestOf, type Verdict } from './verdict.ts';
import { withoutBounds } from './wrappers.ts';

interface JudgedCommand {
  /** That runs the command, or sends the line to one that runs. */
  readonly tool: NamedTool;
  readonly command: string;
  readonly permissions?: readonly Permission[] | undefined;
  /** The hosts that it wants, if it wants any: see {@link judgeHosts}. */
  readonly hosts?: readonly string[] | undefined;
}

/** How commands are confined, and what they may have inside the sandbox. */
export interface CommandSurroundings {
  readonly isConfined: boolean;
  /** Lets confined commands use the network without a question. Without a sandbox it has no effect. */
  readonly trustsNetwork?: boolean;
  /** Set in a worktree: its files are a copy of this folder's, so a command may delete them. */
  readonly standsFor?: string;
  /** Whether undo could bring back what the command deletes at a path, which stands in its line. */
  readonly canRestore?: ((path: string) => boolean) | undefined;
  readonly closed?: ClosedToGit | undefined;
}

/**
 * Judges each command of a line on its own; the strictest verdict counts. A command that shows that it destroys work
 * asks, unless undo could take it back or a rule of the owner names it. One that shows committed content of closed files
 * asks, unless a rule of the owner allows it. Rules that forbid or ask apply to every
 * reading of a command. The owner's `allow` applies only to a plain line as written: an owner who allowed `npm test*`
 * did not mean `npm test > ~/.profile`. It never replaces the question about the permission `all`, because a person
 * grants `all` for one call, not for a pattern.
 */
export function judgeCommand(
  { tool, command: text, permissions = [], hosts = [] }: JudgedCommand,
  book: Rulebook,
  surroundings: CommandSurroundings,
): Verdict {
  const line = parseCommandLine(text);
  const userRules = book.userRules.filter((rule) => allowsThere(rule, permissions, surroundings));
  const rules = { ...book, userRules };
  const isRead = strictRulesFor(book, tool).length > 0;
  const fed = fedCommands(line);
  const restorable = restorableIn(line, surroundings);
  const reveals = surroundings.closed && revealsIn(text, line, surroundings.closed);
  const subjects = line.commands.map((command) => ({
    ...subjectOf(command, line.isPlain, surroundings),
    reveal: reveals?.get(command),
    isFed: fed.has(command),
    ...(restorable.has(command) && { loss: undefined }),
  }));
  const network = judgeHosts(hosts, book, surroundings);
  const builtIn = builtInVerdict(permissions, hosts, network.isOpen, surroundings);
  return strictestOf([
    ...network.verdicts,
    ...subjects.flatMap((subject) => verdictsOn(tool, subject, rules, builtIn, permissions)),
    ...verdictsOnLine(tool, text, line, book),
    ...(isRead && !(line.isWhole && subjects.every(({ isComplete }) => isComplete))
      ? [TANGLED]
      : []),
  ]);
}

/**
 * The deletions at the beginning of a plain line that undo could take back. Behind any other command a path can mean
 * another place, or have other files.
 */
function restorableIn(
  { commands, isPlain }: CommandLine,
  { isConfined, canRestore }: CommandSurroundings,
): ReadonlySet<Command> {
  const found = new Set<Command>();
  if (!isPlain || !isConfined || canRestore === undefined) return found;
  for (const command of commands) {
    if (deletedBy(command)?.every(canRestore) !== true) break;
    found.add(command);
  }
  return found;
}

/** Whether a rule's bounds let it decide here. A rule that forbids or asks has none. */
function allowsThere(
  { decision, permissions: most, sandbox }: Rule,
  permissions: readonly Permission[],
  { isConfined }: CommandSurroundings,
): boolean {
  if (decision !== 'allow') return true;
  if (sandbox && !isConfined) return false;
  return most === undefined || permissions.every((permission) => most.includes(permission));
}

interface CommandSubject extends Subject {
  /** Whether the readings are complete. */
  readonly isComplete: boolean;
  /** What the command may destroy. */
  readonly loss: string | undefined;
  /** What it may print. */
  readonly reveal: string | undefined;
}

function subjectOf(
  command: Command,
  canBeAllowed: boolean,
  { isConfined, standsFor }: CommandSurroundings,
): Omit<CommandSubject, 'reveal'> {
  const { text } = command;
  const readings = readingsOf(command);
  const loss = standsFor === undefined ? lossOf(readings, { isConfined }) : undefined;
  const isComplete = readings !== undefined;
  return {
    text,
    bare: withoutBounds(text),
    readings: readings ?? [],
    canBeAllowed,
    isComplete,
    loss,
  };
}

function verdictsOn(
  tool: NamedTool,
  subject: CommandSubject,
  book: Rulebook,
  builtIn: Verdict,
  permissions: readonly Permission[],
): Verdict[] {
  const { owners, workspaces } = findDecidingRules(book, tool, subject);
  const canDecide = owners?.decision !== 'allow' || !permissions.includes('all');
  const isMeant = owners?.decision === 'allow' && namesLoss(owners.pattern);
  return [
    ...(subject.loss === undefined || isMeant ? [] : [ask(subject.loss)]),
    ...(subject.reveal === undefined || owners?.decision === 'allow' ? [] : [ask(subject.reveal)]),
    ...verdictsOf({ owners: canDecide ? owners : undefined, workspaces }, builtIn),
  ];
}

function builtInVerdict(
  permissions: readonly Permission[],
  hosts: readonly string[],
  isNetworkOpen: boolean,
  { isConfined }: CommandSurroundings,
): Verdict {
  const others = permissions.filter((one) => one !== 'network' || hosts.length === 0);
  const isOpen = hosts.length === 0 || isNetworkOpen;
  const network = isOpen ? [] : [`the network (${hostWords(hosts)})`];
  const wanted = [...others, ...network].join(', ');
  const asks = wanted === '' ? '' : ` It asks for ${wanted}.`;
  if (!isConfined) return ask(`No sandbox holds commands on this machine.${asks}`);
  return asks === '' ? allow('Commands are allowed in the sandbox.') : ask(asks.trim());
}

/** A pattern that itself joins commands, such as `curl * | sh*`, applies to the line as a whole. */
function verdictsOnLine(
  tool: NamedTool,
  text: string,
  line: CommandLine,
  book: Rulebook,
): Verdict[] {
  const spanning = {
    userRules: book.userRules.filter(spansCommands),
    workspaceRules: book.workspaceRules.filter(spansCommands),
  };
  if (strictRulesFor(spanning, tool).length === 0) return [];
  const subject = { text, readings: lineReadingsOf(line) ?? [], canBeAllowed: line.isPlain };
  return verdictsOf(
    findDecidingRules(spanning, tool, subject, withoutBlanksAroundOperators),
    allow('No rule is about the whole line.'),
  );
}

/** The pattern of an answer is for one command of a line, also where that has such a character in quotes. */
function spansCommands({ pattern, answered }: Rule): boolean {
  return answered === undefined && /[;&|\n]/.test(pattern);
}

/** Writes the pattern like the readings of a line. */
function withoutBlanksAroundOperators(pattern: string): string {
  const words = pattern.split(' ').filter((word) => word !== '');
  return words.join(' ').replace(/ ?([;&|\n]+) ?/g, '$1');
}

/** Used only where rules forbid or ask. Without them no rule can be missed. */
const TANGLED = ask('This line is too complex or not complete, so rules may miss a command in it.');
