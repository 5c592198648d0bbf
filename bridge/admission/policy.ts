/** Decides whether a call runs, asks a person first, or is refused. Pure: it knows only its arguments. */
import { isAbsolute, relative, resolve } from 'node:path';
import type { ToolFactsHere } from '../../packages/host/index.ts';
import { findTool } from '../../shared/tools/catalogue.ts';
import { type ToolFacts, takesPath } from '../../shared/tools/definition.ts';
import { hostsWanted, permissionsWanted } from '../../shared/tools/network-permission.ts';
import { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { webSearch } from '../../shared/tools/web-search.ts';
import type { Metadata } from '../../shared/wire/documents.ts';
import { modeAllows } from '../../shared/wire/modes.ts';
import type { CallLimits, ToolCall } from '../../shared/wire/tunnel.ts';
import { type CommandSurroundings, judgeCommand } from './command-verdict.ts';
import { isTrusted, judgeOffer } from './offer-verdict.ts';
import {
  type DecidingRules,
  findDecidingRules,
  pathSubject,
  type Rulebook,
  verdictsOf,
} from './rulebook.ts';
import { allow, ask, deny, strictestOf, type Verdict } from './verdict.ts';
import { type Visibility, visibilityFor } from './visibility.ts';
import { type IsSiteAllowed, judgePage, judgeSearch } from './web.ts';

export interface Policy extends Rulebook {
  /** Its absolute path. Rules apply to paths relative to it, however a call writes them. */
  readonly workspace: string;
  /** Set in a worktree: the absolute path of the workspace, which calls may write for it. */
  readonly standsFor?: string;
  /** Whether a sandbox passed its self-test. */
  readonly isConfined: boolean;
  /** Whether hosts can be opened to a confined command by name. Else it has the whole network, or none. */
  readonly opensHosts?: boolean;
  /** Whether the owner lets confined commands and web_fetch use the network without a question (rules.ts). */
  readonly trustsNetwork?: boolean;
  /** For this call's conversation. */
  readonly isSiteAllowed?: IsSiteAllowed;
  /** The real paths of this call, relative to the workspace. Rules apply to them too, however the call names them. */
  readonly realNames?: readonly (string | undefined)[] | undefined;
}

/** A call as the rules see it. Its arguments are already parsed. */
export interface JudgedCall
  extends Pick<ToolCall, 'mode' | 'limits' | 'approvalReason'>,
    Partial<Pick<ToolCall, 'conversationId'>> {
  readonly definition: ToolFactsHere;
  readonly args: Metadata;
  /** Paths, a command line, or what the tool wants of the web. */
  readonly subjects: readonly string[];
  /** See {@link CommandSurroundings}, both. */
  readonly canRestore?: CommandSurroundings['canRestore'];
  readonly closed?: CommandSurroundings['closed'];
}

/** The verdict on a call. It does not depend on the edge's own judgement. */
export function judgeCall(call: JudgedCall, policy: Policy): Verdict {
  const { definition: tool, mode, limits = {}, approvalReason } = call;
  const { effect } = (isTrusted(tool, policy) && tool.claims) || tool;
  if (!modeAllows(mode, effect)) {
    return deny(`In the read-only mode ${mode}, ${tool.name} does not run.`);
  }
  return strictestOf([
    judgeWork(call, policy),
    ...verdictsOfRequest(tool, limits, approvalReason),
    ...(tool.asks === undefined ? [] : [ask(tool.asks)]),
  ]);
}

/** The verdict on the call's work alone, without the request's demands. */
function judgeWork(call: JudgedCall, policy: Policy): Verdict {
  const { definition: tool, subjects } = call;
  if (tool.origin) return judgeOffer(tool, policy);
  if (takesPath(tool)) return judgePaths(tool, subjects, policy);
  const { reaches } = tool;
  const isRead = tool.effect === 'read';
  switch (reaches) {
    case 'web':
      return judgeWeb(tool, subjects, policy);
    case 'processes':
      return isRead ? judgeReading(tool, subjects, policy) : judgeCommands(call, policy);
    case 'skills':
      if (isRead) return judgeReading(tool, subjects, policy);
      break;
    case undefined:
      if (tool.document.type === 'terminal_command') return judgeCommands(call, policy);
      break;
    default:
      reaches satisfies never;
  }
  const unknown = ask(`Drawbridge cannot judge what ${tool.name} does.`);
  return strictestOf([judgeReading(tool, subjects, policy), unknown]);
}

/** The subjects are command lines: of a new command, or of one that runs and the line that it gets. */
function judgeCommands(
  { definition: tool, args, subjects, canRestore, closed }: JudgedCall,
  policy: Policy,
): Verdict {
  if (subjects.length === 0) return allow('It runs nothing.');
  const wishes = WISHES.safeParse(args).data ?? {};
  const permissions = permissionsWanted(wishes);
  const hosts = hostsWanted(wishes, policy.opensHosts === true);
  // A line for a command that runs already is held by the rules for commands, too.
  const tools = [...new Set([runTerminalCmd, tool])];
  return strictestOf(
    subjects.flatMap((command) =>
      tools.map((each) =>
        judgeCommand({ tool: each, command, permissions, hosts }, policy, {
          ...policy,
          closed,
          canRestore: wishes.is_background ? undefined : canRestore,
        }),
      ),
    ),
  );
}

/** The verdict by the rules for the tool alone. The subjects are the command lines of processes, or names of skills. */
function judgeReading(tool: ToolFacts, subjects: readonly string[], policy: Policy): Verdict {
  const builtIn = allow('What its own commands print is open to a conversation.');
  return strictestOf(
    subjects.flatMap((command) =>
      verdictsOf(findDecidingRules(policy, tool, pathSubject(command)), builtIn),
    ),
  );
}

function judgeWeb({ name }: ToolFacts, subjects: readonly string[], policy: Policy): Verdict {
  const { isSiteAllowed = () => false, isConfined, trustsNetwork = false } = policy;
  const isAllowed = (site: string) => (isConfined && trustsNetwork) || isSiteAllowed(site);
  const judge = (subject: string) =>
    name === webSearch.name ? judgeSearch(subject, policy) : judgePage(subject, policy, isAllowed);
  return strictestOf(subjects.map(judge));
}

const WISHES = runTerminalCmd.arguments.pick({
  permissions: true,
  hosts: true,
  is_background: true,
});

/**
 * The part of the workspace that an admitted call may show: nothing that a rule forbids. Of paths that a rule asks
 * about it shows only those that the person was asked about.
 */
export function visibilityOf(
  { definition: tool, subjects }: JudgedCall,
  policy: Policy,
): Visibility | undefined {
  if (!takesPath(tool)) return undefined;
  const paths = namedPaths(subjects, policy);
  const answered = paths.flatMap((path) => decidingRulesOfPath(tool, path, policy));
  const folders = paths.map(({ called, realName }) => realName ?? called);
  return visibilityFor({ tool, folders, book: policy, answered });
}

function judgePaths(tool: ToolFacts, subjects: readonly string[], policy: Policy): Verdict {
  return strictestOf(
    namedPaths(subjects, policy).flatMap((path, index) => {
      const part = findTool(tool.parts?.[index] ?? '');
      return [tool, ...(part ? [part] : [])].flatMap((each) => verdictsOfPath(each, path, policy));
    }),
  );
}

function verdictsOfPath(tool: ToolFacts, path: NamedPath, policy: Policy): Verdict[] {
  const builtIn = builtInVerdict(tool);
  return decidingRulesOfPath(tool, path, policy).flatMap((rules) => verdictsOf(rules, builtIn));
}

/** A path of a call, both relative to the workspace. */
interface NamedPath {
  readonly called: string;
  /** Where the path leads; undefined where that is unknown. */
  readonly realName: string | undefined;
}

function namedPaths(
  subjects: readonly string[],
  { workspace, standsFor, realNames }: Policy,
): NamedPath[] {
  return subjects.map((path, index) => ({
    called: toRelative(path, workspace, standsFor),
    realName: realNames?.[index],
  }));
}

/**
 * The rules for each name of a call's path: as in the call, and the real path. A look at a folder shows its content,
 * which a pattern like `private/*` is about. So rules that forbid or ask are also matched with `private/`.
 */
function decidingRulesOfPath(
  tool: ToolFacts,
  { called, realName = called }: NamedPath,
  policy: Policy,
): DecidingRules[] {
  const names = [called, realName];
  const readingsOf = (name: string) => (tool.effect === 'read' ? [`${name}/`] : []);
  return names.map((name) => findDecidingRules(policy, tool, pathSubject(name, readingsOf(name))));
}

/** `./a/../b` and the absolute path of `b` both become `b`. */
function toRelative(path: string, workspace: string, standsFor: string | undefined): string {
  const way = standsFor !== undefined && isAbsolute(path) ? relative(standsFor, path) : '..';
  const isByAlias = way !== '..' && !way.startsWith('../');
  return (isByAlias ? way : relative(workspace, resolve(workspace, path))) || '.';
}

/** Paths outside the workspace and protected ones are refused where the path is resolved, not here. */
function builtInVerdict(tool: ToolFacts): Verdict {
  switch (tool.effect) {
    case 'read':
      return allow('Reading in the workspace is allowed.');
    case 'write':
      return allow('Editing in the workspace is allowed.');
    case 'execute':
      return ask(`${tool.name} runs programs.`);
  }
}

/** The request's demands. Allowed paths are checked where the path is resolved. */
function verdictsOfRequest(
  tool: ToolFacts,
  { allowedPaths, requireApproval = false }: CallLimits,
  approvalReason = `The request asks for an approval of every ${tool.name} call.`,
): Verdict[] {
  const noPaths = `The request allows ${tool.name} only some paths, and it cannot be limited to them.`;
  return [
    ...(allowedPaths !== undefined && !takesPath(tool) ? [deny(noPaths)] : []),
    ...(requireApproval ? [ask(approvalReason)] : []),
  ];
}
