/** Which tools a run has, and what becomes of those that were asked for by name and are not there. Pure. */
import type { UnavailableTool } from '../../../shared/documents.ts';
import { askQuestion } from '../../../shared/tools/ask-question.ts';
import { findTool, modeHasTool, runsOnEdge } from '../../../shared/tools/catalogue.ts';
import type { ToolDefinition } from '../../../shared/tools/definition.ts';
import type { Machine, Run } from './rows.ts';

type Asked = Pick<Run['request'], 'mode' | 'tools' | 'unasking'>;

/** Whether the request lets the run use this tool, wherever that is. */
export function isWanted({ tools, unasking }: Asked, { name }: ToolDefinition): boolean {
  if (unasking && name === askQuestion.name) return false;
  return !tools || tools[name] !== undefined;
}

/** Those that the request names and that the run does not have, in the order of the request. */
export function unavailableTools(
  { mode, tools = {} }: Asked,
  machine: Machine | null,
): UnavailableTool[] {
  return Object.keys(tools).flatMap((name) => {
    const why = whyUnavailable(name, mode, machine);
    return why ? [{ name, ...why }] : [];
  });
}

function whyUnavailable(
  name: string,
  mode: Asked['mode'],
  machine: Machine | null,
): Omit<UnavailableTool, 'name'> | null {
  const tool = findTool(name);
  if (!tool) {
    return { code: 'NOT_SUPPORTED', reason: 'This version of Drawbridge has no such tool.' };
  }
  if (!modeHasTool(mode, tool)) {
    return { code: 'WRONG_MODE', reason: `It is not on offer in ${mode} mode.` };
  }
  if (runsOnEdge(tool)) return null;
  if (!machine) {
    return {
      code: 'NO_BRIDGE',
      reason: 'No bridge is attached to this conversation: connect one, and begin a new one.',
    };
  }
  if (!machine.tools.includes(name)) {
    return { code: 'NOT_ON_BRIDGE', reason: 'The bridge of this conversation does not have it.' };
  }
  if (machine.isConnected !== false) return null;
  return {
    code: 'BRIDGE_OFFLINE',
    reason: 'The bridge was not connected when the run began: its calls wait for it.',
  };
}
