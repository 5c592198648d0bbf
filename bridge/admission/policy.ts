/** Decides whether a call runs, asks a person first, or is refused. Pure: all it knows is handed in. */
import { relative, resolve } from 'node:path';
import type { Metadata } from '../../shared/documents.ts';
import { modeAllows } from '../../shared/modes.ts';
import { type ToolFacts, takesPath } from '../../shared/tools/definition.ts';
import { deleteFile } from '../../shared/tools/delete-file.ts';
import { renameFile } from '../../shared/tools/rename-file.ts';
import { runTerminalCmd } from '../../shared/tools/run-terminal-cmd.ts';
import { write } from '../../shared/tools/write.ts';
import type { CallLimits, ToolCall } from '../../shared/tunnel.ts';
import type { ToolFactsHere } from '../tools/executor.ts';
import { judgeCommand } from './command-verdict.ts';
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

export interface Policy extends Rulebook {
  /** Its absolute path: rules are about paths relative to it, however a call writes them. */
  readonly workspace: string;
  /** Whether a sandbox passed its self-test. */
  readonly isConfined: boolean;
  /** Whether the owner lets confined commands have the network unasked (rules.ts). */
  readonly trustsNetwork?: boolean;
  /** Where the paths of this call lead, relative to the workspace: rules hold for that, too, whatever the call names them. */
  readonly realNames?: readonly (string | undefined)[] | undefined;
}

/** A call, as far as rules know it: its arguments were read before. */
export interface JudgedCall extends Pick<ToolCall, 'mode' | 'limits' | 'approvalReason'> {
  readonly definition: ToolFactsHere;
  readonly args: Metadata;
  /** Paths or a command line. */
  readonly subjects: readonly string[];
}

/** The verdict on a call, whatever the edge thinks of it. */
export function judgeCall(call: JudgedCall, policy: Policy): Verdict {
  const { definition: tool, args, subjects, mode, limits = {}, approvalReason } = call;
  const { effect } = (isTrusted(tool, policy) && tool.claims) || tool;
  if (!modeAllows(mode, effect)) {
    return deny(`In the read-only mode ${mode}, ${tool.name} does not run.`);
  }
  return strictestOf([
    judgeWork(tool, args, subjects, policy),
    ...verdictsOfRequest(tool, limits, approvalReason),
  ]);
}

/** By what the call would do, whatever the request demands of it. */
function judgeWork(
  tool: ToolFactsHere,
  args: Metadata,
  subjects: readonly string[],
  policy: Policy,
): Verdict {
  if (tool.origin) return judgeOffer(tool, policy);
  if (tool.name !== runTerminalCmd.name) return judgePaths(tool, subjects, policy);
  return judgeCommand(runTerminalCmd.arguments.parse(args), policy, policy);
}

/**
 * What a call may show of the workspace, once it was let through: nothing of what a rule forbids, and of what a rule
 * asks about only what the person was asked about.
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

/** A rename is also judged as what it comes to: the file is deleted where it was, and written where it will be. */
function judgePaths(tool: ToolFacts, subjects: readonly string[], policy: Policy): Verdict {
  const parts = tool.name === renameFile.name ? [deleteFile, write] : [];
  return strictestOf(
    namedPaths(subjects, policy).flatMap((path, index) =>
      [tool, ...parts.slice(index, index + 1)].flatMap((part) =>
        verdictsOfPath(part, path, policy),
      ),
    ),
  );
}

function verdictsOfPath(tool: ToolFacts, path: NamedPath, policy: Policy): Verdict[] {
  const builtIn = builtInVerdict(tool);
  return decidingRulesOfPath(tool, path, policy).flatMap((rules) => verdictsOf(rules, builtIn));
}

/** A path of a call, both relative to the workspace. */
interface NamedPath {
  readonly called: string;
  /** Where it leads; undefined where that is not known. */
  readonly realName: string | undefined;
}

function namedPaths(subjects: readonly string[], { workspace, realNames }: Policy): NamedPath[] {
  return subjects.map((path, index) => ({
    called: toRelative(path, workspace),
    realName: realNames?.[index],
  }));
}

/**
 * For each name of a call's path: as in the call, and by where it leads. To look at a folder is to look at what is in
 * it, which a pattern such as `private/*` is about: rules that forbid or ask hold for `private/`, too.
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

/** `./a/../b` and the absolute path of `b` are both `b`. */
function toRelative(path: string, workspace: string): string {
  return relative(workspace, resolve(workspace, path)) || '.';
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

/** What the request demands. Whether a call keeps to its allowed paths is for where its path is resolved. */
function verdictsOfRequest(
  tool: ToolFacts,
  { allowedPaths, requireApproval = false }: CallLimits,
  approvalReason = `The request asks for an approval of every ${tool.name} call.`,
): Verdict[] {
  const verdicts: Verdict[] = [];
  if (allowedPaths !== undefined && !takesPath(tool)) {
    verdicts.push(
      deny(`The request allows ${tool.name} only some paths, and nothing can hold it to them.`),
    );
  }
  if (requireApproval) verdicts.push(ask(approvalReason));
  return verdicts;
}
