/** The kinds of runs, one row each: what the rooms of a conversation must know of a kind. */
import {
  FOR_GUESTS,
  FOR_PLAN_FILES,
  FOR_UNDOS,
  type Toolbox,
} from '../../../shared/tools/toolbox.ts';
import type { Errand, RunRequest, SubagentRole } from './rows.ts';

/** A new kind is an arm of {@link Errand}, a row here, and a row of `OF_KIND` in `run/steps/next-step.ts`. */
interface ErrandKind<Type extends Errand['type'] = Errand['type']> {
  /** The field by which its stored requests are known. Null for a message, which has none. */
  readonly field: Type extends 'message' ? null : FieldOf<Extract<Errand, { type: Type }>>;
  /** What its model is asked for. Messages steer only a run with answers: another one has no use for them. */
  readonly asks: 'answers' | 'summary' | 'nothing';
  /** Who wrote its message. What a person mentions is attached, and is searched for. */
  readonly saidBy: 'person' | 'model' | 'program';
  /** Its tools, in place of those that the machine and the app offer. */
  readonly tools?: Toolbox;
  /** Whether it works with files: a run of an agent then has its worktree. */
  readonly usesFiles: boolean;
}

/** The order counts: a request to execute a plan's file has its plan as well once the file is read. */
export const ERRANDS: { readonly [Type in Errand['type']]: ErrandKind<Type> } = {
  guest: { field: 'guest', asks: 'nothing', saidBy: 'program', tools: FOR_GUESTS, usesFiles: true },
  save: {
    field: 'save',
    asks: 'nothing',
    saidBy: 'person',
    tools: FOR_PLAN_FILES,
    usesFiles: true,
  },
  undo: { field: 'undo', asks: 'nothing', saidBy: 'person', tools: FOR_UNDOS, usesFiles: true },
  compact: { field: 'compact', asks: 'summary', saidBy: 'person', usesFiles: false },
  plan_file: { field: 'planFile', asks: 'answers', saidBy: 'person', usesFiles: true },
  plan: { field: 'plan', asks: 'answers', saidBy: 'person', usesFiles: true },
  subagent: { field: 'subagent', asks: 'answers', saidBy: 'model', usesFiles: true },
  message: { field: null, asks: 'answers', saidBy: 'person', usesFiles: true },
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
