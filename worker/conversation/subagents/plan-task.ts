/** Decides what a call of `task` starts: the request of the subagent, or a refusal that the model can mend. Pure. */
import type * as z from 'zod';
import { type AgentDefinition, isBuiltIn } from '../../../shared/definitions.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import type { Mode } from '../../../shared/modes.ts';
import { grep } from '../../../shared/tools/grep.ts';
import { listDir } from '../../../shared/tools/list-dir.ts';
import { readFile } from '../../../shared/tools/read-file.ts';
import type { ToolSelection } from '../../../shared/tools/selection.ts';
import { task } from '../../../shared/tools/task.ts';
import type { ToolResult } from '../../../shared/tunnel.ts';
import { type ModelEnv, modelForRole, resolveModel } from '../../upstream/models.ts';
import { offeredTools, toolboxOf } from '../store/offered-tools.ts';
import type { Call, Run, RunRequest, Turn } from '../store/rows.ts';
import { TASK_LIMITS } from './limits.ts';

/** What decides about a call beside the call itself. */
export interface Starting {
  readonly run: Run;
  /** The turns of the run, with that of the call. */
  readonly turns: readonly Pick<Turn, 'calls'>[];
  readonly settings: ModelEnv;
  readonly nowMs: number;
}

export type PlannedTask =
  | { readonly type: 'start'; readonly title: string; readonly request: RunRequest }
  | { readonly type: 'refused'; readonly result: ToolResult };

/** Deterministic but for `createdMs`: the same call always starts the same subagent. */
export function planTask(call: Call, starting: Starting): PlannedTask {
  const { run, turns, settings, nowMs } = starting;
  const args = task.arguments.parse(call.arguments);
  const mayStart = shareOf(call, run, turns);
  if (mayStart === null) return refuse('SUBAGENT_LIMIT', TOO_MANY);
  const kind = kindOf(args, run);
  if ('status' in kind) return { type: 'refused', result: kind };
  const model = modelOf(args.model, kind, run, settings);
  if (model instanceof DrawbridgeError) return refuse('INVALID_ARGUMENTS', model.message);
  const { sampling, unasking, withReasoning } = run.request;
  const depth = (run.request.subagent?.depth ?? 0) + 1;
  const isLeaf = depth >= TASK_LIMITS.maxDepth || kind.isLeaf;
  const { type, mode, tools, definition } = kind;
  return {
    type: 'start',
    title: args.description,
    request: {
      ...{ model, mode, tools, sampling, unasking, withReasoning },
      messages: [...demandsOf(run), { role: 'user', content: args.prompt }],
      context: run.request.context?.rules && { rules: run.request.context.rules },
      subagent: { type, depth, mayStart: isLeaf ? 0 : mayStart, definition },
      idempotency: { key: call.callId, digest: call.callId },
      createdMs: nowMs,
    },
  };
}

/**
 * How many subagents the call's own may start; null where the call itself would be one too many. Every call that comes
 * before it counts, with all that its subagent may start. So the whole tree has its bound without a common counter.
 */
function shareOf({ callId }: Call, { request }: Run, turns: Starting['turns']): number | null {
  const calls = turns.flatMap((turn) => turn.calls).filter(({ name }) => isTask(name));
  let left = request.subagent?.mayStart ?? TASK_LIMITS.maxInTree;
  for (const earlier of calls) {
    if (left < 1) return null;
    const share = Math.floor((left - 1) / TASK_LIMITS.shareOfLeft);
    if (earlier.callId === callId) return share;
    left -= 1 + share;
  }
  return null;
}

/** Whether a call by this name starts a subagent. */
export function isTask(name: string): boolean {
  return name === task.name || task.aliases.includes(name);
}

/** A type of subagent, as this run can start it. */
interface Kind {
  readonly type: string;
  readonly mode: Mode;
  /** Never more than the run's own tools. Undefined for all that the mode allows. */
  readonly tools: ToolSelection | undefined;
  /** The model of the type, if it has one of its own. */
  readonly model?: string | undefined;
  readonly isFast?: boolean;
  /** Whether it starts no subagents. */
  readonly isLeaf: boolean;
  readonly definition?: { readonly path: string; readonly text: string };
}

type Arguments = z.output<typeof task.arguments>;

function kindOf({ subagent_type: asked }: Arguments, run: Run): Kind | ToolResult {
  const { mode, tools } = run.request;
  const own = run.machine?.context.definitions?.agents ?? [];
  switch (asked.toLowerCase().replace(/[-_\s]/g, '')) {
    case 'explore':
      return { type: 'explore', mode: 'ask', tools, isFast: true, isLeaf: true };
    case 'generalpurpose':
      return { type: 'generalPurpose', mode: workMode(mode), tools, isLeaf: false };
    case 'browseruse':
      return browserKind(run);
    default: {
      const definition = own.find(({ name }) => name === asked && !isBuiltIn('agent', name));
      if (definition) return ownKind(definition, run);
      const names = [...BUILT_IN, ...own.map(({ name }) => name)];
      return problem('INVALID_ARGUMENTS', `There is no such type: use ${names.join(', ')}.`);
    }
  }
}

const BUILT_IN = ['generalPurpose', 'explore', 'browser-use'];

/** Plans are laid before the person by the conversation itself. */
function workMode(mode: Mode): Mode {
  return mode === 'plan' ? 'ask' : mode;
}

/** A definition narrows what the run has, and gives nothing. */
function ownKind(definition: AgentDefinition, run: Run): Kind {
  const { name: type, tools, readOnly, model, path, text } = definition;
  const mode = readOnly ? 'ask' : workMode(run.request.mode);
  const wanted = tools && narrowed(run, tools);
  const told = { path, text };
  return { type, mode, model, tools: wanted ?? run.request.tools, isLeaf: false, definition: told };
}

/** A browser is a server of the bridge that offers Playwright's tools, whatever its name. */
function browserKind(run: Run): Kind | ToolResult {
  const offered = offeredTools(run);
  const servers = new Set(
    offered
      .filter(({ origin }) => origin?.tool === BROWSER_TOOL)
      .map(({ origin }) => origin?.server),
  );
  if (servers.size === 0) return problem('NOT_CONFIGURED', noBrowser(run));
  const browsing = offered.filter(({ origin }) => origin && servers.has(origin.server));
  const names = [...browsing.map(({ name }) => name), readFile.name, listDir.name, grep.name];
  const mode = workMode(run.request.mode);
  return { type: 'browser-use', mode, tools: narrowed(run, names), isLeaf: true };
}

/** The tool that every Playwright MCP server has. */
const BROWSER_TOOL = 'browser_navigate';

function noBrowser(run: Run): string {
  const isThere = run.machine?.offers?.offers.some(({ origin }) => origin.tool === BROWSER_TOOL);
  return isThere ? NOT_ALLOWED : NO_BROWSER;
}

const NOT_ALLOWED =
  'This request, or its mode, does not allow the tools of the browser. Say so if the task needs it.';
const NO_BROWSER =
  'No browser is configured. The owner of the machine can add the Playwright MCP server, for example with ' +
  '`drawbridge mcp add playwright -- npx @playwright/mcp@latest`. Tell them so if the task needs it.';

/** The run's own selection, cut down to these tools. */
function narrowed(run: Run, names: readonly string[]): ToolSelection {
  const { tools } = run.request;
  const toolbox = toolboxOf(run);
  const wanted = [...new Set(names.map((name) => toolbox.nameOf(name)))];
  const given = wanted.filter((name) => !tools || tools[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, tools?.[name] ?? {}]));
}

/** A model that the call names must be there; that of a type only counts where it is. */
function modelOf(
  named: string | undefined,
  { model: own, isFast }: Kind,
  { request: { model } }: Run,
  settings: ModelEnv,
): string | DrawbridgeError {
  if (named !== undefined) return known(named, settings);
  const ofKind = own === undefined ? undefined : known(own, settings);
  if (typeof ofKind === 'string') return ofKind;
  return isFast ? modelForRole('fast', model, settings) : model;
}

function known(model: string, settings: ModelEnv): string | DrawbridgeError {
  try {
    return resolveModel(model, settings);
  } catch (error) {
    if (error instanceof DrawbridgeError) return error;
    throw error;
  }
}

/** The rules that the request brought as messages: they hold for subagents, too. */
function demandsOf({ request: { messages } }: Run): RunRequest['messages'] {
  return messages.filter(({ role }) => role === 'system');
}

const TOO_MANY =
  'This answer has started as many subagents as it may. Do the rest yourself, or say what is left.';

function refuse(code: string, data: string): PlannedTask {
  return { type: 'refused', result: problem(code, data) };
}

function problem(code: string, data: string): ToolResult {
  return { status: 'error', code, data };
}
