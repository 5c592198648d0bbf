/** The kinds of runs, one row each: what the rooms of a conversation must know of a kind. */
import {
  FOR_GUESTS,
  FOR_PLAN_FILES,
  FOR_UNDOS,
  type Toolbox,
} from '../../../shared/tools/toolbox.ts';
import type { Errand, RunRequest, SubagentRole } from './rows.ts';

/** A new kind is an arm of {@link Errand}, a row here, and a row of `OF_KIND` in `run/steps/next-step.ts`. */
type ErrandKind<Type extends Errand['type'] = Errand['type']> = ModelUse & {
  /** The field by which its stored requests are known. Null for a message, which has none. */
  readonly field: Type extends 'message' ? null : FieldOf<Extract<Errand, { type: Type }>>;
  /** Who wrote its message. What a person mentions is attached, and is searched for. */
  readonly saidBy: 'person' | 'model' | 'program';
  /** Whether it works with files: a run of an agent then has its worktree. */
  readonly usesFiles: boolean;
};

/**
 * What its model is asked for. `isSteered`: messages can join the run, and one that comes too late is answered with the
 * run's model, mode and tools.
 */
type ModelUse =
  | { readonly asks: 'answers'; readonly isSteered: boolean; readonly tools?: never }
  | { readonly asks: 'summary'; readonly isSteered: false; readonly tools?: never }
  /**
   * `tools` replace those of the machine and the app. No run that asks a model has any: it reads the calls of all runs
   * before it with its own toolbox.
   */
  | { readonly asks: 'nothing'; readonly isSteered: false; readonly tools: Toolbox };

const STEERED = { asks: 'answers', isSteered: true } as const;
const SUMMARY = { asks: 'summary', isSteered: false } as const;
const NOTHING = { asks: 'nothing', isSteered: false } as const;

/** The order counts: a request to execute a plan's file has its plan as well once the file is read. */
export const ERRANDS: { readonly [Type in Errand['type']]: ErrandKind<Type> } = {
  guest: { field: 'guest', ...NOTHING, tools: FOR_GUESTS, saidBy: 'program', usesFiles: true },
  save: { field: 'save', ...NOTHING, tools: FOR_PLAN_FILES, saidBy: 'person', usesFiles: true },
  undo: { field: 'undo', ...NOTHING, tools: FOR_UNDOS, saidBy: 'person', usesFiles: true },
  compact: { field: 'compact', ...SUMMARY, saidBy: 'person', usesFiles: false },
  plan_file: { field: 'planFile', ...STEERED, saidBy: 'person', usesFiles: true },
  plan: { field: 'plan', ...STEERED, saidBy: 'person', usesFiles: true },
  subagent: { field: 'subagent', ...STEERED, saidBy: 'model', usesFiles: true },
  message: { field: null, ...STEERED, saidBy: 'person', usesFiles: true },
};

type FieldOf<Kind> = Exclude<keyof Kind, 'type'>;

const FIELDS = Object.entries(ERRANDS).map(
  ([type, { field }]) => [type as Errand['type'], field] as const,
);

/** The kind of a stored request. Rows of earlier versions do not say it themselves. */
export function errandTypeOf(stored: object): Errand['type'] {
  const known = FIELDS.find(([, field]) => field !== null && field in stored);
  return known?.[0] ?? 'message';
}

/** Undefined for the run of no subagent. */
export function subagentOf(request: RunRequest): SubagentRole | undefined {
  return request.type === 'subagent' ? request.subagent : undefined;
}

/** Whether the run only shows something to people: no model learns of it. */
export function isPreview(request: RunRequest): boolean {
  return request.type === 'undo' && request.undo.preview;
}
