/** The modes and agents that files of a workspace define. They are the workspace's text: they only narrow a run. */
import * as z from 'zod';
import { DEFINITION_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { Mode } from './modes.ts';

const { maxNameChars, maxDescriptionChars, maxTextChars, maxTools, maxNoteChars } =
  DEFINITION_LIMITS;

/** Lower-case words with hyphens, such as `code-review`. */
const DefinitionName = z
  .string()
  .max(maxNameChars)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/);

const Note = z.string().max(maxNoteChars);
const Path = z.string().max(REQUEST_LIMITS.maxPathChars);

const Definition = z.object({
  name: DefinitionName,
  /** Instructions for the model. Untrusted data. */
  text: z.string().max(maxTextChars),
  /** Canonical names of tools. Absent: all that the run has anyway. Names without a tool are left out. */
  tools: z.array(z.string().max(REQUEST_LIMITS.maxNameChars)).max(maxTools).optional(),
  /** Counts only where the model is configured at the edge. */
  model: z.string().min(1).max(REQUEST_LIMITS.maxNameChars).optional(),
  /** Relative to the workspace. */
  path: Path,
});

/** `.drawbridge/modes/*.md`. */
export const ModeDefinition = Definition.extend({
  description: z.string().max(maxDescriptionChars).optional(),
  /** The policy: a call in this mode may do what it may do in the base mode, and no more. */
  base: Mode,
});
export type ModeDefinition = z.infer<typeof ModeDefinition>;

/** `.drawbridge/agents/*.md` and `.claude/agents/*.md`. */
export const AgentDefinition = Definition.extend({
  /** When the agent is of use, for the model that starts it. */
  description: z.string().max(maxDescriptionChars),
  /** The agent may change nothing. */
  readOnly: z.boolean().optional(),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** A mode as a request names it: a built-in one, or one that the workspace of the conversation's bridge defines. */
export const ModeName = z.union([Mode, DefinitionName]);

/** All definitions of a workspace. Names are unique within each list, and no built-in mode or agent has them. */
export const DefinitionSet = z
  .object({
    modes: z.array(ModeDefinition).max(DEFINITION_LIMITS.maxModes),
    agents: z.array(AgentDefinition).max(DEFINITION_LIMITS.maxAgents),
    /** Files that define nothing. `reason` completes the sentence "It is left out: ...". */
    leftOut: z.array(z.object({ path: Path, reason: Note })).max(DEFINITION_LIMITS.maxLeftOut),
  })
  .refine(
    ({ modes, agents }) => lengthOf([...modes, ...agents]) <= DEFINITION_LIMITS.maxTotalChars,
    'too long together',
  );
export type DefinitionSet = z.infer<typeof DefinitionSet>;

/** The definitions for people: everything but the texts. */
export const DefinitionList = z.object({
  modes: z.array(ModeDefinition.omit({ text: true })),
  agents: z.array(AgentDefinition.omit({ text: true })),
  leftOut: DefinitionSet.shape.leftOut,
});
export type DefinitionList = z.infer<typeof DefinitionList>;

/** Empty for a bridge that has sent no definitions. */
export function listDefinitions(set: DefinitionSet | undefined): DefinitionList {
  const { modes = [], agents = [], leftOut = [] } = set ?? {};
  return {
    modes: modes.map(({ text: _, ...mode }) => mode),
    agents: agents.map(({ text: _, ...agent }) => agent),
    leftOut,
  };
}

function lengthOf(all: readonly { readonly text: string }[]): number {
  return all.reduce((sum, { text }) => sum + text.length, 0);
}

/** The agents that every run can start, in the form of {@link DefinitionName}. */
const BUILT_IN_AGENTS: ReadonlySet<string> = new Set([
  'generalpurpose',
  'general-purpose',
  'explore',
  'browser-use',
]);

/** Whether a definition may not have the name. */
export function isBuiltIn(kind: 'mode' | 'agent', name: string): boolean {
  return kind === 'mode' ? Mode.safeParse(name).success : BUILT_IN_AGENTS.has(name);
}
