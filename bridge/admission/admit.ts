/** Turns a call from outside into one value, once. Every later step uses that value. */
import { resolve as resolvePath } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { maskInValue } from '../../machine/secrets/filter.ts';
import {
  type BridgeTool,
  type ReadCall,
  type ResolvedPaths,
  type ToolFactsHere,
  toErrorResult,
} from '../../packages/host/index.ts';
import {
  type Access,
  closedToGit,
  type ResolvedPath,
  type Workspace,
} from '../../packages/workspace/index.ts';
import { takesPath } from '../../shared/tools/definition.ts';
import type { ToolCall, ToolResult } from '../../shared/wire/tunnel.ts';
import type { Judge, Judgement } from './judge.ts';
import { denied } from './refusals.ts';
import type { Rule } from './rules.ts';
import type { Undoing } from './undoing.ts';
import { strictestOf, type Verdict } from './verdict.ts';

type CarriedOn = 'callId' | 'conversationId' | 'isPrivate' | 'grantee';

/** A call that may run, perhaps after a person was asked. */
export interface AdmittedCall extends ReadCall, Pick<ToolCall, CarriedOn> {
  readonly tool: BridgeTool;
  /** The part of the workspace that the call may reach. */
  readonly workspace: Workspace;
  readonly places: ResolvedPaths;
  /** The files that the call changes. Calls that share a file run one after the other. */
  readonly lanes: readonly string[];
  readonly verdict: Judgement;
  /** What guards have against the call, which is a part of the verdict. */
  readonly objection: Verdict | undefined;
  /** Whether these rules of the owner's, added to the others, would let the call run without a question. */
  readonly wouldRunBy: (rules: readonly Rule[]) => Promise<boolean>;
  /** The absolute paths whose deletion needs no question as long as an undo can take it back. */
  readonly restores: ReadonlySet<string>;
  /** Of its room. */
  readonly undoing: Undoing | undefined;
  /** The tool's facts as the owner's rules see them, where a server claims other ones. */
  readonly counts: Pick<ToolFactsHere, 'effect' | 'idempotent'>;
}

type Admission =
  | { readonly state: 'admitted'; readonly call: AdmittedCall }
  | { readonly state: 'refused'; readonly result: ToolResult };

/** The folder of a call, with its tools and its rules. */
export interface CallRoom {
  readonly workspace: Workspace;
  readonly tools: Pick<ReadonlyMap<string, BridgeTool>, 'get'>;
  /** The owner's rules. Each call asks them anew, so that a changed file counts at once. */
  readonly judge: Judge;
  /** Throws a ToolFailure for a place that calls may read but not change. */
  readonly assertChangeable?: (place: ResolvedPath) => Promise<void>;
  /** Undefined where the state folder can keep nothing. */
  readonly undoing?: Undoing | undefined;
}

/** Reads the arguments, resolves the path, and judges; the stricter of the verdict and of `objection` counts. */
export async function admit(
  call: ToolCall,
  room: CallRoom,
  objection: Verdict | undefined,
): Promise<Admission> {
  try {
    const tool = findMeant(call, room);
    const read = tool.read(call.arguments, call.conversationId);
    if (tool.definition.effect !== 'read') assertUnmasked(read.args);
    return await judged({ call, tool, read, objection }, room);
  } catch (error) {
    return refusedFor(error);
  }
}

/**
 * Admits the same call a moment later: looks up its path and the policy again. Of the two verdicts the stricter one
 * counts.
 */
export async function admitAgain(
  call: ToolCall,
  before: AdmittedCall,
  room: CallRoom,
): Promise<Admission> {
  const { args, subjects, paths, propose, verdict, objection } = before;
  const now = await again().catch(refusedFor);
  if (now.state === 'refused') return now;
  const { visibility } = now.call.verdict;
  const stricter = strictestOf([verdict, now.call.verdict]);
  return { ...now, call: { ...now.call, verdict: { ...stricter, visibility } } };

  async function again(): Promise<Admission> {
    const tool = findMeant(call, room);
    const isSame = tool === before.tool;
    const read = isSame
      ? { args, subjects, paths, propose }
      : tool.read(call.arguments, call.conversationId);
    return await judged({ call, tool, read, objection }, room);
  }
}

/** A model that writes back what it read would put the mask in the place of the secret. */
export function assertUnmasked(content: unknown): void {
  const mask = maskInValue(content);
  if (mask === undefined) return;
  throw new ToolFailure(
    'MASKED_SECRET',
    `The call has ${mask} where a secret was hidden from you, and would lose the secret. Leave its line out of what you write: change the lines around it by str_replace, or ask the person.`,
  );
}

/** The tool that the call means. An offered tool must still have the definition that the model was given. */
function findMeant({ tool: name, definition }: ToolCall, { tools }: CallRoom): BridgeTool {
  const tool = tools.get(name);
  if (!tool) {
    throw new ToolFailure('UNKNOWN_TOOL', `This bridge has no tool named ${JSON.stringify(name)}.`);
  }
  if (tool.definition.claims?.digest === definition) return tool;
  throw new ToolFailure(
    'TOOL_CHANGED',
    `The server of ${name} has changed its definition since this run began, so the call was not run. The next message can use the new one.`,
  );
}

interface ReadableCall {
  readonly call: ToolCall;
  readonly tool: BridgeTool;
  readonly read: ReadCall;
  readonly objection: Verdict | undefined;
}

async function judged(
  { call, tool, read, objection }: ReadableCall,
  { workspace, judge, assertChangeable, undoing }: CallRoom,
): Promise<Admission> {
  const { definition } = tool;
  const { callId, conversationId, isPrivate, grantee, mode, limits, approvalReason } = call;
  const { allowedPaths } = limits ?? {};
  const all = definition.opens && definition.asks ? workspace.opening(definition.opens) : workspace;
  const within = allowedPaths === undefined ? all : all.limitedTo(allowedPaths);
  const access = definition.effect === 'write' ? 'write' : 'read';
  const resolved = await Promise.all(read.paths.map((path) => resolve(path, access, within)));
  const realNames = resolved.map((place) =>
    place instanceof ToolFailure ? undefined : workspace.nameOf(place.path),
  );
  const { args, subjects } = read;
  const [folder] = resolved;
  const restores = new Set<string>();
  const canRestore = (path: string) => {
    if (!undoing || !folder || folder instanceof ToolFailure) return false;
    const deleted = resolvePath(folder.path, path);
    const isRestored = undoing.canRestore(deleted);
    if (isRestored) restores.add(deleted);
    return isRestored;
  };
  const from = folder === undefined || folder instanceof ToolFailure ? workspace.root : folder.path;
  const closed = closedToGit(workspace, from);
  const about = { mode, limits, approvalReason, conversationId };
  const judgedCall = { definition, args, subjects, canRestore, closed, ...about };
  const names = takesPath(definition) ? realNames : [];
  const byRules = await judge(judgedCall, names);
  const verdict = objection ? { ...byRules, ...strictestOf([byRules, objection]) } : byRules;
  const wouldRunBy = async (rules: readonly Rule[]) =>
    !objection && (await judge(judgedCall, names, rules)).decision === 'allow';
  if (verdict.decision === 'deny') return refused(denied(verdict.reason));
  const places = placesIn(resolved);
  if (access === 'write') for (const place of places) await assertChangeable?.(place);
  const { visibility, isTrusted = false } = verdict;
  const { effect, idempotent } = (isTrusted && definition.claims) || definition;
  const shown = visibility ? within.showing(visibility.mayShow) : within;
  const lanes = definition.document.type === 'file_edit' ? places.map(({ path }) => path) : [];
  const ids = { callId, conversationId, isPrivate, grantee };
  const known = { ...ids, tool, places, lanes, verdict, objection, wouldRunBy, restores, undoing };
  return {
    state: 'admitted',
    call: { ...read, ...known, workspace: shown, counts: { effect, idempotent } },
  };
}

/** Returns a failure as a value, because the policy's verdict counts first. */
async function resolve(
  path: string,
  access: Access,
  workspace: Workspace,
): Promise<ResolvedPath | ToolFailure> {
  try {
    return await workspace.resolve(path, access);
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
}

/** Throws the first failure. */
function placesIn(resolved: readonly (ResolvedPath | ToolFailure)[]): ResolvedPaths {
  const [first, ...others] = resolved.map((place) => {
    if (place instanceof ToolFailure) throw place;
    return place;
  });
  if (first === undefined) throw new Error('A call has no path at all.');
  return [first, ...others];
}

/** An expected failure becomes a refusal. */
function refusedFor(error: unknown): Admission {
  if (error instanceof ToolFailure) return refused(toErrorResult(error));
  throw error;
}

function refused(result: ToolResult): Admission {
  return { state: 'refused', result };
}
