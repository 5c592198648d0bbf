/** From a reply's calls to logged calls: which may run, under which id, and why others may not. Pure. */
import { type Mode, modeAllows } from '../../shared/modes.ts';
import { findTool } from '../../shared/tools/catalogue.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import type { ReplyCall } from '../reply/documents.ts';
import type { Call, Run } from './rows.ts';
import type { RunLog } from './run-log.ts';

/** A call on its way to the bridge. */
export interface LoggedCall {
  readonly call: Call;
  /** Canonical name. */
  readonly tool: string;
  readonly mode: Mode;
}

export function loggedCall(call: Call, run: Run): LoggedCall {
  return { call, tool: findTool(call.name)?.name ?? call.name, mode: run.request.mode };
}

/** The calls of a complete reply as they are logged. An upstream id that the conversation has seen is replaced by ours. */
export function logCalls(calls: readonly ReplyCall[], log: RunLog): Call[] {
  return calls.map((call) => {
    const parsed = parseArguments(call);
    return {
      callId: call.callId,
      upstreamId: log.hasUpstreamId(call.id) ? call.callId.replaceAll('-', '').slice(-9) : call.id,
      documentId: call.documentId,
      name: call.name,
      rawArguments: call.arguments === null ? '{}' : call.rawArguments,
      ...parsed,
      ...(call.extra && { extra: call.extra }),
    };
  });
}

/** Why the registry refuses a call: the model reads it and can mend it. Null for a call that goes to the bridge. */
export function admitCall(call: Call, run: Run): ToolResult | null {
  const tool = findTool(call.name);
  const { mode, tools } = run.request;
  if (!tool) return refuse('UNKNOWN_TOOL', `There is no tool named ${JSON.stringify(call.name)}.`);
  if (!call.arguments)
    return refuse('INVALID_ARGUMENTS', call.problem ?? 'The arguments are not valid.');
  if (!modeAllows(mode, tool.effect)) {
    return refuse('READ_ONLY_MODE', `${tool.name} changes things, and ${mode} mode does not.`);
  }
  if (tools && !tools.includes(tool.name)) {
    return refuse('TOOL_NOT_OFFERED', `${tool.name} is not on offer in this request.`);
  }
  if (!run.machine?.tools.includes(tool.name)) {
    return refuse('NO_BRIDGE', `No bridge that has ${tool.name} is attached to this conversation.`);
  }
  return null;
}

function parseArguments(call: ReplyCall): Pick<Call, 'arguments' | 'problem'> {
  const tool = findTool(call.name);
  if (!call.mayExecute || call.arguments === null) {
    return { arguments: null, problem: call.problem ?? 'The arguments are not a JSON object.' };
  }
  if (!tool) return { arguments: call.arguments };
  const parsed = tool.arguments.safeParse(call.arguments);
  if (parsed.success) return { arguments: parsed.data };
  const [issue] = parsed.error.issues;
  return {
    arguments: null,
    problem: `Invalid arguments for ${tool.name}: ${issue?.path.join('.') || 'arguments'}: ${issue?.message}`,
  };
}

function refuse(code: string, data: string): ToolResult {
  return { status: 'error', code, data };
}
