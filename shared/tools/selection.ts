/** Which tools a request puts on offer, and how: a list of names, or settings by name. */
import * as z from 'zod';
import { REQUEST_LIMITS } from '../limits.ts';
import { isOfferName } from '../offer.ts';
import { CallLimits } from '../tunnel.ts';
import { findTool, isUnavailable } from './catalogue.ts';
import { takesPath } from './definition.ts';

/** Strict: a limit under a misspelt name would not hold, and nobody would know. */
const ToolSettings = CallLimits.extend({
  enabled: z.boolean().default(true),
  /** The only scope there is: every tool stays within the workspace. */
  scope: z.literal('workspace').optional(),
}).strict();
type ToolSettings = z.infer<typeof ToolSettings>;

const Registry = z.record(z.string(), ToolSettings);

/** What is parsed: the tools on offer by their canonical names, with what limits their calls. Names may be aliases. */
export type ToolSelection = Record<string, CallLimits>;

/**
 * A list of names, or settings by name. A tool that is not named is not on offer; one that this version lacks (a name of
 * the API's table of tools) may be named and is told as unavailable.
 */
export const ToolSelection = toolSelection([]);

/** Settings by name alone: what stands under `availableTools`. */
export const ToolRegistry = toolRegistry([]);

/** {@link ToolSelection} in which these stay on offer, unless the request says that they are not enabled. */
export function toolSelection(kept: readonly string[]) {
  return z
    .preprocess(
      boundSelection,
      z.union([
        z.array(z.string()).max(REQUEST_LIMITS.maxContextEntries),
        z.strictObject({ availableTools: Registry }),
        Registry,
      ]),
    )
    .transform((selection, context) => selectFrom(settingsOf(selection), kept, context));
}

/** {@link ToolRegistry} in which these stay on offer, unless the request says that they are not enabled. */
export function toolRegistry(kept: readonly string[]) {
  return z
    .preprocess(boundSelection, Registry)
    .transform((registry, context) => selectFrom(Object.entries(registry), kept, context));
}

function selectFrom(
  settings: readonly [name: string, settings: ToolSettings][],
  kept: readonly string[],
  context: z.RefinementCtx,
): ToolSelection {
  const selected: ToolSelection = {};
  const seen = new Set<string>();
  for (const [name, { enabled, scope: _, ...limits }] of settings) {
    const tool = findTool(name);
    const problem = problemOf(name, limits, seen);
    if (problem) context.addIssue({ code: 'custom', message: problem, path: [name] });
    else if (enabled) selected[tool?.name ?? name] = limits;
    seen.add(tool?.name ?? name);
  }
  for (const name of kept) if (!seen.has(name)) selected[name] = {};
  return selected;
}

/** Counted before any is looked at: a body holds so many bad entries that their faults would fill the memory. */
function boundSelection(value: unknown, context: z.RefinementCtx): unknown {
  const { availableTools = value } = Object(value) as { availableTools?: unknown };
  if (countOf(availableTools) <= REQUEST_LIMITS.maxContextEntries) return value;
  const message = `No more than ${REQUEST_LIMITS.maxContextEntries} tools can be named`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

type Selection =
  | readonly string[]
  | { availableTools: Record<string, ToolSettings> }
  | Record<string, ToolSettings>;

function settingsOf(selection: Selection): [name: string, settings: ToolSettings][] {
  if (Array.isArray(selection)) return selection.map((name) => [name, { enabled: true }]);
  const { availableTools } = selection as { availableTools?: Record<string, ToolSettings> };
  return Object.entries(availableTools ?? (selection as Record<string, ToolSettings>));
}

function problemOf(
  name: string,
  { allowedPaths, requireApproval }: CallLimits,
  seen: ReadonlySet<string>,
): string | null {
  const tool = findTool(name);
  if (isOfferName(name)) return allowedPaths ? takesNoPath(name) : null;
  if (!tool) {
    const shown = JSON.stringify(name.slice(0, REQUEST_LIMITS.maxNameChars));
    return isUnavailable(name) ? null : `There is no tool named ${shown}`;
  }
  if (seen.has(tool.name)) return `${tool.name} is named twice`;
  if (requireApproval && tool.executor === 'edge') {
    return `${tool.name} needs no machine, so nobody is asked: leave requireApproval out`;
  }
  return allowedPaths && !takesPath(tool) ? takesNoPath(tool.name) : null;
}

function takesNoPath(name: string): string {
  return `${name} takes no path: leave allowedPaths out`;
}
