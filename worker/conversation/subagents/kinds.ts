/** The types of subagents: which tools, mode and model each has. None has more than the run that starts it. Pure. */

import { grep } from '../../../shared/tools/grep.ts';
import { listDir } from '../../../shared/tools/list-dir.ts';
import { readFile } from '../../../shared/tools/read-file.ts';
import type { ToolSelection } from '../../../shared/tools/selection.ts';
import { type AgentDefinition, isBuiltIn } from '../../../shared/wire/definitions.ts';
import type { Mode } from '../../../shared/wire/modes.ts';
import { failure, type ToolResult } from '../../../shared/wire/tunnel.ts';
import { isOfMode, modeOf } from '../log/modes.ts';
import { offeredTools, toolboxOf } from '../log/offered-tools.ts';
import type { Run } from '../store/rows.ts';

/** A type of subagent, as this run can start it. */
export interface SubagentKind {
  readonly type: string;
  readonly mode: Mode;
  /** Never more than the run's own tools. Undefined for all that the mode allows. */
  readonly tools: ToolSelection | undefined;
  /** The model of the type, if it has one of its own. */
  readonly model?: string | undefined;
  readonly isFast?: boolean;
  readonly definition?: { readonly path: string; readonly text: string };
}

/** The type by the name that the model gives; a refusal for one that this run cannot start. */
export function kindOf(asked: string, run: Run): SubagentKind | ToolResult {
  const mode = modeFor(run);
  const tools = toolsOf(run);
  const own = run.machine?.context.definitions?.agents ?? [];
  switch (plainName(asked)) {
    case 'explore':
      return { type: 'explore', mode: 'ask', tools, isFast: true };
    case 'generalpurpose':
      return { type: 'generalPurpose', mode, tools };
    case 'browseruse':
      return browserKind(run);
    default: {
      const definition = own.find(({ name }) => name === asked && !isBuiltIn('agent', name));
      if (definition) return ownKind(definition, run);
      const names = [...BUILT_IN, ...own.map(({ name }) => name)];
      return failure('INVALID_ARGUMENTS', `There is no such type: use ${names.join(', ')}.`);
    }
  }
}

/** Whether subagents of the type start none. The type's name alone decides, so that the answer never changes. */
export function isLeafType(asked: string): boolean {
  return ['explore', 'browseruse'].includes(plainName(asked));
}

function plainName(asked: string): string {
  return asked.toLowerCase().replace(/[-_\s]/g, '');
}

const BUILT_IN = ['generalPurpose', 'explore', 'browser-use'];

/** The run's mode now. Plans are laid before the person by the conversation itself. */
function modeFor(run: Run): Mode {
  const { mode } = modeOf(run);
  return mode === 'plan' ? 'ask' : mode;
}

/** The tools of the request that the run's mode leaves; undefined for all that its base mode allows. */
function toolsOf(run: Run): ToolSelection | undefined {
  const { own } = modeOf(run);
  return own?.tools ? narrowed(run, own.tools) : run.request.tools;
}

/** A definition narrows what the run has, and gives nothing. */
function ownKind(definition: AgentDefinition, run: Run): SubagentKind {
  const { name: type, tools, readOnly, model, path, text } = definition;
  const mode = readOnly ? 'ask' : modeFor(run);
  const left = tools ? narrowed(run, tools) : toolsOf(run);
  return { type, mode, model, tools: left, definition: { path, text } };
}

/** A browser is a server of the bridge that offers Playwright's tools, whatever its name. */
function browserKind(run: Run): SubagentKind | ToolResult {
  const offered = offeredTools(run);
  const servers = new Set(
    offered
      .filter(({ origin }) => origin?.tool === BROWSER_TOOL)
      .map(({ origin }) => origin?.server),
  );
  if (servers.size === 0) return failure('NOT_CONFIGURED', noBrowser(run));
  const browsing = offered.filter(({ origin }) => origin && servers.has(origin.server));
  const names = [...browsing.map(({ name }) => name), readFile.name, listDir.name, grep.name];
  const mode = modeFor(run);
  return { type: 'browser-use', mode, tools: narrowed(run, names) };
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
  '`drawbridge mcp add playwright -- npx -y @playwright/mcp@latest`. Say so if the task needs it.';

/** The run's own selection, cut down to these tools. */
function narrowed(run: Run, names: readonly string[]): ToolSelection {
  const { tools } = run.request;
  const toolbox = toolboxOf(run);
  const mode = modeOf(run);
  const wanted = [...new Set(names.map((name) => toolbox.nameOf(name)))];
  const given = wanted.filter((name) => isOfMode(mode, { name }) && (!tools || tools[name]));
  return Object.fromEntries(given.map((name) => [name, tools?.[name] ?? {}]));
}
