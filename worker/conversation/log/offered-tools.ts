/** Decides which tools a run has, and why requested tools are unavailable. Pure. */

import { OFFER_LIMITS } from '../../../shared/limits.ts';
import { activateSkill } from '../../../shared/tools/activate-skill.ts';
import { modeHasTool } from '../../../shared/tools/definition.ts';
import { switchMode } from '../../../shared/tools/switch-mode.ts';
import { task } from '../../../shared/tools/task.ts';
import {
  type ClientTool,
  type Tool,
  type Toolbox,
  toolboxWith,
} from '../../../shared/tools/toolbox.ts';
import type { UnavailableTool } from '../../../shared/wire/documents.ts';
import { isOfferName } from '../../../shared/wire/offer.ts';
import { hasForModel } from '../../../shared/wire/skills.ts';
import { ERRANDS, subagentOf } from '../store/errands.ts';
import type { Machine, Run, RunMode, RunRequest } from '../store/rows.ts';
import { isOfMode, modeOf } from './modes.ts';

/** The run's tools, which stay the same for the run's whole life in every instance. */
export function toolboxOf({ machine, request }: Pick<Run, 'machine'> & Partial<Run>): Toolbox {
  const own = request && ERRANDS[request.type].tools;
  return own ?? toolboxWith(machine?.offers, request?.clientTools);
}

/** The tools on offer in this run's next turn, in the order in which the request lists them to the model. */
export function offeredTools(run: Pick<Run, 'machine' | 'request' | 'switched'>): Tool[] {
  const { request, machine } = run;
  const mode = modeOf(run);
  return toolboxOf(run).tools.filter(
    (tool) =>
      modeHasTool(mode.mode, tool) &&
      (tool.executor === 'client' || isOfMode(mode, tool)) &&
      isWanted(request, tool) &&
      isReachable(tool, machine),
  );
}

/** Whether the edge or the machine can carry out calls of the tool. */
export function isReachable({ name, executor, origin }: Tool, machine: Machine | null): boolean {
  if (executor === 'client') return true;
  if (name === activateSkill.name && !hasForModel(machine?.context.skills)) return false;
  if (executor === 'agent') return machine !== null; // Without a machine a subagent has nothing to look at.
  if (executor === 'edge' || origin !== undefined) return true;
  return machine?.tools.includes(name) ?? false;
}

/** Whether the request lets the run use this tool, whether or not it is reachable. */
export function isWanted(
  request: RunRequest,
  { name, document, executor }: Pick<Tool, 'name' | 'document' | 'executor'>,
): boolean {
  if (executor === 'client') return true;
  const { tools, unasking } = request;
  const subagent = subagentOf(request);
  if (unasking && document.type === 'clarification') return false;
  if (subagent?.mayStart === 0 && name === task.name) return false;
  // Its mode is bound to that of the agent that started it.
  if (subagent && name === switchMode.name) return false;
  return !tools || tools[name] !== undefined;
}

/**
 * The tools that the request names and the run does not have, in its order; without names the first ones cut. Those that
 * the app's tools displace come first.
 */
export function unavailableTools(request: RunRequest, machine: Machine | null): UnavailableTool[] {
  const { tools, clientTools } = request;
  const displaced = toolboxOf({ machine, request }).displaced.flatMap((tool) => {
    const without = { ...request, clientTools: undefined };
    const isMissed = offeredTools({ machine, request: without }).includes(tool);
    return isMissed ? [whyDisplaced(tool, clientTools)] : [];
  });
  const { maxListed } = OFFER_LIMITS;
  const cut = machine?.offers?.unavailable.slice(0, maxListed) ?? [];
  const missing = tools
    ? Object.keys(tools).flatMap((name) => {
        const why = whyUnavailable(name, request, machine);
        return why ? [{ name, ...why }] : [];
      })
    : cut.map((tool) => ({ ...tool, code: 'NOT_ON_BRIDGE' as const }));
  return [...displaced.slice(0, maxListed), ...missing];
}

function whyDisplaced(
  { name }: Tool,
  clientTools: readonly ClientTool[] | undefined = [],
): UnavailableTool {
  const isTaken = clientTools.some((tool) => tool.name === name);
  const reason = isTaken
    ? 'The request has a function of this name, which goes before the agent’s own tool.'
    : `The request has so many functions that of ${OFFER_LIMITS.maxTools} tools none is left for this one.`;
  return { name, code: 'DISPLACED', reason };
}

function whyUnavailable(
  name: string,
  { mode, own }: RunMode,
  machine: Machine | null,
): Omit<UnavailableTool, 'name'> | null {
  const tool = toolboxOf({ machine }).find(name);
  if (!tool && isOfferName(name)) return whyNotOffered(name, machine);
  if (!tool) {
    return { code: 'NOT_SUPPORTED', reason: 'This version of Drawbridge has no such tool.' };
  }
  if (!modeHasTool(mode, tool)) {
    return { code: 'WRONG_MODE', reason: `This tool is not on offer in ${mode} mode.` };
  }
  if (own && !isOfMode({ mode, own }, tool)) {
    return { code: 'WRONG_MODE', reason: `The mode ${own.name} does not have this tool.` };
  }
  if (tool.executor === 'edge') return null;
  if (!machine) return NO_BRIDGE;
  if (tool.executor === 'agent') return null;
  if (!isReachable(tool, machine)) {
    return {
      code: 'NOT_ON_BRIDGE',
      reason: `The bridge of this conversation does not have this tool${tool.needs === undefined ? '' : `: ${tool.needs}`}.`,
    };
  }
  if (machine.isConnected !== false) return null;
  return {
    code: 'BRIDGE_OFFLINE',
    reason:
      'The bridge was not connected when the run began: calls of this tool wait until it connects.',
  };
}

const NO_BRIDGE = {
  code: 'NO_BRIDGE',
  reason:
    'No bridge is attached to this conversation: connect a bridge, and begin a new conversation.',
} as const;

/** Why a tool is unavailable whose name only an offered tool can have. */
function whyNotOffered(name: string, machine: Machine | null): Omit<UnavailableTool, 'name'> {
  if (!machine) return NO_BRIDGE;
  const known = machine.offers?.unavailable.find((tool) => tool.name === name);
  const reason = known?.reason ?? 'No server of this bridge offered it when the run began.';
  return { code: 'NOT_ON_BRIDGE', reason };
}
