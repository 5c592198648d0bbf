/** Turns a reply's calls into logged calls: gives them their ids, and decides which may run. Pure. */
import { responseIdOf } from '../../../shared/ids.ts';
import { TOOL_LIMITS } from '../../../shared/limits.ts';
import { isWithin } from '../../../shared/text/paths.ts';
import { modeHasTool, takesPath } from '../../../shared/tools/definition.ts';
import { named, type Tool, type Toolbox, withoutNamespace } from '../../../shared/tools/toolbox.ts';
import { modeAllows } from '../../../shared/wire/modes.ts';
import {
  type CallLimits,
  failure,
  type ToolCall,
  type ToolResult,
} from '../../../shared/wire/tunnel.ts';
import type { ReplyCall } from '../../reply/documents.ts';
import { isOfMode, modeOf } from '../log/modes.ts';
import { isReachable, isWanted, toolboxOf } from '../log/offered-tools.ts';
import type { Call, Run } from '../store/rows.ts';

/** A call on its way to the bridge. */
export type BridgeCall = Omit<ToolCall, 'conversationId'>;

/** The model's call as the bridge gets it. `approvalReason` is given where a person must be asked first. */
export function bridgeCall(
  call: Call,
  { conversationId, run }: CallPlace & { readonly run: Run },
  approvalReason?: string,
): BridgeCall {
  const toolbox = toolboxOf(run);
  const tool = toolbox.nameOf(call.name);
  const definition = toolbox.find(tool)?.digest;
  const { tools, worktree } = run.request;
  const limits = approvalReason === undefined ? {} : { requireApproval: true };
  return {
    ...ownCall(call, { conversationId, run }),
    tool,
    mode: modeOf(run).mode,
    ...((tools?.[tool] || approvalReason !== undefined) && {
      limits: { ...tools?.[tool], ...limits },
    }),
    ...(definition !== undefined && { definition }),
    ...(approvalReason !== undefined && { approvalReason }),
    ...(worktree && { worktree }),
  };
}

/** Where a call is made. `run` is undefined outside of every run. */
export interface CallPlace {
  readonly conversationId: string;
  readonly run?: Run | undefined;
}

/** A call that Drawbridge makes itself: the limits and the mode of the request are for the model's calls. */
export function ownCall(
  { callId, name, arguments: args }: Pick<Call, 'callId' | 'name' | 'arguments'>,
  place?: CallPlace,
): BridgeCall {
  const { ordinal, request } = place?.run ?? {};
  return {
    callId,
    tool: name,
    arguments: { ...args },
    mode: 'agent',
    ...(place && ordinal !== undefined && { run: responseIdOf(place.conversationId, ordinal) }),
    ...(request?.trace !== undefined && { trace: request.trace }),
  };
}

/** The calls of a reply as the log stores them. An upstream id that the request has already is replaced by ours. */
export function logCalls(
  calls: readonly ReplyCall[],
  usedIds: ReadonlySet<string>,
  toolbox: Toolbox,
): Call[] {
  return calls.map((call) => {
    const parsed = parseArguments(call, toolbox);
    return {
      callId: call.callId,
      upstreamId: usedIds.has(call.id) ? call.callId.replaceAll('-', '').slice(-9) : call.id,
      documentId: call.documentId,
      name: nameOf(call, toolbox).slice(0, TOOL_LIMITS.maxNameChars).toWellFormed(),
      rawArguments: call.arguments === null ? '{}' : call.rawArguments,
      ...parsed,
      ...(call.extra && { extra: call.extra }),
    };
  });
}

/** Why a call is refused, which the model reads and can correct. Null for a call that may run. */
export function admitCall(call: Call, run: Run): ToolResult | null {
  const tool = toolboxOf(run).find(call.name);
  const { tools } = run.request;
  const { mode, own } = modeOf(run);
  if (!tool) return failure('UNKNOWN_TOOL', `There is no tool named ${JSON.stringify(call.name)}.`);
  if (!call.arguments)
    return failure('INVALID_ARGUMENTS', call.problem ?? 'The arguments are not valid.');
  if (!modeAllows(mode, tool.effect)) {
    return failure('READ_ONLY_MODE', `${tool.name} changes things, and ${mode} mode does not.`);
  }
  if (!modeHasTool(mode, tool)) {
    return failure('WRONG_MODE', `${tool.name} is not for ${mode} mode.`);
  }
  if (!isOfMode({ mode, own }, tool)) {
    return failure('WRONG_MODE', `${tool.name} is not for the mode ${own?.name}.`);
  }
  if (!isWanted(run.request, tool)) {
    return failure('TOOL_NOT_OFFERED', `${tool.name} is not on offer in this request.`);
  }
  const misplaced = judgePlace(tool, call.arguments, tools?.[tool.name]);
  if (misplaced) return misplaced;
  if (!isReachable(tool, run.machine)) {
    return failure(
      'NO_BRIDGE',
      `No bridge that has ${tool.name} is attached to this conversation.`,
    );
  }
  return null;
}

/** As the model wrote it, but for a namespace: the transcript sends the name back. */
function nameOf({ name }: ReplyCall, toolbox: Toolbox): string {
  return toolbox.find(name) ? withoutNamespace(name) : name;
}

function parseArguments(
  call: ReplyCall,
  toolbox: Toolbox,
): Pick<Call, 'arguments' | 'problem' | 'ignored'> {
  const tool = toolbox.find(call.name);
  if (!call.mayExecute || call.arguments === null) {
    return { arguments: null, problem: call.problem ?? 'The arguments are not a JSON object.' };
  }
  if (!tool) return { arguments: call.arguments };
  const read = tool.read(call.arguments);
  if (read.isValid) {
    return { arguments: read.args, ...(read.ignored && { ignored: named(read.ignored) }) };
  }
  return { arguments: null, problem: read.problem };
}

/** Checks the paths by their text alone. The bridge checks where they really lead. */
function judgePlace(
  tool: Tool,
  args: NonNullable<Call['arguments']>,
  limits: CallLimits | undefined,
): ToolResult | null {
  const { allowedPaths } = limits ?? {};
  if (!allowedPaths || !takesPath(tool)) return null;
  const isOpen = (path: string) => path.startsWith('/') || isWithin(path, allowedPaths);
  if (tool.subjects(args).every(isOpen)) return null;
  return failure(
    'PATH_NOT_ALLOWED',
    `That is not within the paths that the request allows: use one in ${allowedPaths.slice(0, TOOL_LIMITS.maxNamedPaths).join(', ')}.`,
  );
}
