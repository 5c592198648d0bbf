/** The tools that a request gives to the run: a list of names, or settings by name. */
import * as z from 'zod';
import { REQUEST_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { isOfferName } from '../wire/offer.ts';
import { CallLimits } from '../wire/tunnel.ts';
import { findTool } from './catalogue.ts';
import { takesPath } from './definition.ts';

/** Strict: a limit with a misspelt name would have no effect, and the client would not notice. */
const ToolSettings = CallLimits.extend({
  enabled: z.boolean().default(true),
  /** The only scope: every tool stays within the workspace. */
  scope: z.literal('workspace').optional(),
}).strict();
type ToolSettings = z.infer<typeof ToolSettings>;

const Registry = z.record(z.string(), ToolSettings);

/** The parsed selection: tools by their canonical names, with the limits of their calls. A request may use aliases. */
export type ToolSelection = Record<string, CallLimits>;

/** A list of names, or settings by name. The run gets no other tools. */
export const ToolSelection = toolSelection([]);
named.add(ToolSelection, { id: 'ToolSelection' });

/** Only settings by name: the value of `availableTools`. */
export const ToolRegistry = toolRegistry([]);

/** A {@link ToolSelection} that keeps these tools unless the request disables them. */
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

/** A {@link ToolRegistry} that keeps these tools unless the request disables them. */
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

/** Counts the entries before checking any: the issues of all bad entries in a body could fill the memory. */
function boundSelection(value: unknown, context: z.RefinementCtx): unknown {
  const { availableTools = value } = Object(value) as { availableTools?: unknown };
  if (countOf(availableTools) <= REQUEST_LIMITS.maxContextEntries) return value;
  const message = `A request can name at most ${REQUEST_LIMITS.maxContextEntries} tools`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

type SelectionInput =
  | readonly string[]
  | { availableTools: Record<string, ToolSettings> }
  | Record<string, ToolSettings>;

function settingsOf(selection: SelectionInput): [name: string, settings: ToolSettings][] {
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
    return `There is no tool named ${shown}`;
  }
  if (seen.has(tool.name)) return `${tool.name} is named twice`;
  if (requireApproval && tool.executor !== 'bridge') {
    return `${tool.name} does not run on the machine and needs no approval: leave requireApproval out`;
  }
  return allowedPaths && !takesPath(tool) ? takesNoPath(tool.name) : null;
}

function takesNoPath(name: string): string {
  return `${name} takes no path: leave allowedPaths out`;
}
