/** Decides whether a call runs, asks a person first, or is refused. Pure: all it knows is handed in. */
import { relative, resolve } from 'node:path';
import { invalidRequest } from '../../shared/errors.ts';
import { modeAllows } from '../../shared/modes.ts';
import { findTool, takesPath } from '../../shared/tools/catalogue.ts';
import { renameArguments, type ToolDefinition } from '../../shared/tools/definition.ts';
import { type Permission, runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import type { CallLimits, ToolCall } from '../../shared/tunnel.ts';
import { parseCommandLine, spansCommands } from './command-line.ts';
import { type Decision, type Rule, strictest } from './rules.ts';
import { matchesWildcard } from './wildcard.ts';

export interface Policy {
  /** Its absolute path: rules are about paths relative to it, however a call writes them. */
  readonly workspace: string;
  /** Whether a sandbox passed its self-test. */
  readonly isConfined: boolean;
  /** Of the machine's owner. The last one that matches decides, over the built-in verdict. */
  readonly userRules: readonly Rule[];
  /** Of the repository, which others may have written: they only ever make a decision stricter. */
  readonly workspaceRules: readonly Rule[];
  /** Where the path of this call leads, relative to the workspace: rules hold for that, too, whatever the call names it. */
  readonly realName?: string | undefined;
}

export interface Verdict {
  readonly decision: Decision;
  /** One sentence, for the person who is asked and for the model that is refused. */
  readonly reason: string;
}

/** The verdict on a call, whatever the edge thinks of it. */
export function judgeCall(
  call: Pick<ToolCall, 'tool' | 'arguments' | 'mode' | 'limits'>,
  policy: Policy,
): Verdict {
  const tool = findTool(call.tool);
  if (tool === undefined) return deny(`This bridge has no tool named ${call.tool}.`);
  if (!modeAllows(call.mode, tool.effect)) {
    return deny(`In the read-only mode ${call.mode}, ${tool.name} does not run.`);
  }
  const parsed = tool.arguments.safeParse(renameArguments(tool, call.arguments));
  if (!parsed.success) {
    return deny(
      `${tool.name} does not take these arguments: ${invalidRequest(parsed.error).message}`,
    );
  }
  return strictestOf([
    tool.name === runTerminalCmd.name
      ? judgeCommand(runTerminalCmd.arguments.parse(parsed.data), policy)
      : judgePath(tool, tool.subject(parsed.data), policy),
    ...verdictsOfRequest(tool, call.limits ?? {}),
  ]);
}

function judgePath(tool: ToolDefinition, path: string, policy: Policy): Verdict {
  const called = toRelative(path, policy.workspace);
  const names = [called, policy.realName ?? called];
  return strictestOf(names.map((name) => judgeName(tool, name, policy)));
}

function judgeName(tool: ToolDefinition, path: string, policy: Policy): Verdict {
  const owners = lastMatch(policy.userRules, tool, path);
  const workspaces = lastMatch(tightening(policy.workspaceRules), tool, path);
  return strictestOf([
    owners === undefined ? builtInVerdict(tool) : ownersVerdict(owners),
    ...(workspaces === undefined ? [] : [workspacesVerdict(workspaces)]),
  ]);
}

/** `./a/../b` and the absolute path of `b` are both `b`. */
function toRelative(path: string, workspace: string): string {
  return relative(workspace, resolve(workspace, path)) || '.';
}

/** Paths outside the workspace and protected ones are refused where the path is resolved, not here. */
function builtInVerdict(tool: ToolDefinition): Verdict {
  switch (tool.effect) {
    case 'read':
      return allow('Reading in the workspace is allowed.');
    case 'write':
      return allow('Editing in the workspace is allowed.');
    case 'execute':
      return ask(`${tool.name} runs programs.`);
  }
}

/**
 * Each command of a line is judged by itself, and the strictest verdict counts. The owner's `allow` lifts a built-in
 * question only for a plain line (who allowed `npm test*` did not mean `npm test > ~/.profile`), and never one about
 * all permissions: that is for the moment, not for a pattern.
 */
function judgeCommand(
  { command: line, permissions = [] }: { command: string; permissions?: Permission[] | undefined },
  policy: Policy,
): Verdict {
  const { commands, isPlain } = parseCommandLine(line);
  const builtIn = builtInVerdictOnCommand(permissions, policy);
  const canBeLifted = isPlain && !permissions.includes('all');
  const verdicts = commands.map((command) => {
    const rule = lastMatch(policy.userRules, runTerminalCmd, command);
    if (rule === undefined || (rule.decision === 'allow' && !canBeLifted)) return builtIn;
    return ownersVerdict(rule);
  });
  const workspaceRules = tightening(policy.workspaceRules);
  return strictestOf([
    ...verdicts,
    ...matchesOnLine(policy.userRules, line).map(ownersVerdict),
    ...commands
      .flatMap((command) => present(lastMatch(workspaceRules, runTerminalCmd, command)))
      .map(workspacesVerdict),
    ...matchesOnLine(workspaceRules, line).map(workspacesVerdict),
  ]);
}

function builtInVerdictOnCommand(
  permissions: readonly Permission[],
  { isConfined }: Policy,
): Verdict {
  const wanted = permissions.length === 0 ? '' : ` It asks for ${permissions.join(', ')}.`;
  if (!isConfined) return ask(`No sandbox holds commands on this machine.${wanted}`);
  return wanted === '' ? allow('Commands are allowed in the sandbox.') : ask(wanted.trim());
}

/** A pattern that itself joins commands, such as `curl * | sh*`, is for the line as a whole. */
function matchesOnLine(rules: readonly Rule[], line: string): Rule[] {
  const spanning = rules.filter(({ pattern }) => spansCommands(pattern));
  return present(lastMatch(spanning, runTerminalCmd, line));
}

function lastMatch(
  rules: readonly Rule[],
  tool: Pick<ToolDefinition, 'name' | 'aliases'>,
  subject: string,
): Rule | undefined {
  const names = [tool.name, ...tool.aliases];
  return rules.findLast(
    (rule) =>
      names.some((name) => matchesWildcard(rule.tool, name)) &&
      matchesWildcard(rule.pattern, subject),
  );
}

/** What the request demands. Whether a call keeps to its allowed paths is for where its path is resolved. */
function verdictsOfRequest(
  tool: ToolDefinition,
  { allowedPaths, requireApproval = false }: CallLimits,
): Verdict[] {
  const verdicts: Verdict[] = [];
  if (allowedPaths !== undefined && !takesPath(tool)) {
    verdicts.push(
      deny(`The request allows ${tool.name} only some paths, and nothing can hold it to them.`),
    );
  }
  if (requireApproval) {
    verdicts.push(ask(`The request asks for an approval of every ${tool.name} call.`));
  }
  return verdicts;
}

function tightening(rules: readonly Rule[]): Rule[] {
  return rules.filter(({ decision }) => decision !== 'allow');
}

function present(rule: Rule | undefined): Rule[] {
  return rule === undefined ? [] : [rule];
}

/** The first of the strictest. */
function strictestOf(verdicts: readonly Verdict[]): Verdict {
  const decision = strictest(verdicts.map((verdict) => verdict.decision));
  return verdicts.find((verdict) => verdict.decision === decision) ?? ask('No rule applies.');
}

function ownersVerdict(rule: Rule): Verdict {
  return {
    decision: rule.decision,
    reason: `The rules of this machine say so: ${describe(rule)}.`,
  };
}

function workspacesVerdict(rule: Rule): Verdict {
  return {
    decision: rule.decision,
    reason: `The rules of the workspace say so: ${describe(rule)}.`,
  };
}

function describe({ tool, pattern, decision }: Rule): string {
  return `${decision} ${tool} "${pattern}"`;
}

function allow(reason: string): Verdict {
  return { decision: 'allow', reason };
}

function ask(reason: string): Verdict {
  return { decision: 'ask', reason };
}

function deny(reason: string): Verdict {
  return { decision: 'deny', reason };
}
