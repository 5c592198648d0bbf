/** Finds what a run does before it asks the model. */
import { guestEdit } from '../../../../shared/tools/guest-edit.ts';
import { listEvents, listSequence } from '../../calls/plans.ts';
import type { RequestOf, Run, RunRequest } from '../../store/rows.ts';
import { overBudget } from '../budget.ts';
import type { RunDeps } from '../run-deps.ts';
import { checkStep } from './debug-check.ts';
import { steerStep } from './looks.ts';
import { openStep, saveStep } from './plan-files.ts';
import type { Step } from './step.ts';
import { undoStep } from './undo.ts';
import { worktreeStep } from './worktree.ts';

/** The next step of a run whose calls all have results; undefined if the model is next. Stores nothing. */
export function nextStep(run: Run, deps: RunDeps): Step | undefined {
  for (const find of IN_ORDER) {
    const step = find(run, deps);
    if (step) return step;
  }
  return undefined;
}

type FindStep = (run: Run, deps: RunDeps) => Step | undefined;

/** What a run does of its own because of its kind. Null for nothing. */
const OF_KIND: { readonly [Type in RunRequest['type']]: OwnStep<Type> | null } = {
  guest: { isPlaced: false, find: guestStep },
  plan: { isPlaced: false, find: listStep },
  save: { isPlaced: true, find: saveStep },
  plan_file: { isPlaced: true, find: openStep },
  undo: { isPlaced: true, find: undoStep },
  compact: null,
  subagent: null,
  message: null,
};

/** `isPlaced`: whether it needs the run's worktree first. */
interface OwnStep<Type> {
  readonly isPlaced: boolean;
  readonly find: (request: RequestOf<Type>, deps: RunDeps) => Step | undefined;
}

const IN_ORDER: readonly FindStep[] = [
  kindStep(false),
  checkStep,
  worktreeStep,
  kindStep(true),
  budgetStep,
  steerStep,
];

function kindStep(isPlaced: boolean): FindStep {
  return ({ request }, deps) => {
    const own = OF_KIND[request.type] as OwnStep<typeof request.type> | null;
    return own?.isPlaced === isPlaced ? own.find(request as never, deps) : undefined;
  };
}

/** A guest's run (another agent program that wants to change a file) has one turn, and ends with its result. */
function guestStep(request: RequestOf<'guest'>, { log }: RunDeps): Step | undefined {
  if (log.turns.length > 0) return { type: 'end', status: 'completed' };
  const { callId, path } = request.guest;
  const call = { callId, name: guestEdit.name, args: { proposal: callId, path } };
  return { type: 'turn', calls: [call], isChecked: true };
}

/** A run that executes a plan begins its answer with the plan's todos as the list, once. */
function listStep(request: RequestOf<'plan'>, { recorder }: RunDeps): Step | undefined {
  if (listSequence(request) < recorder.nextSequence) return undefined;
  return { type: 'show', events: listEvents(request.plan) };
}

function budgetStep(run: Run, deps: RunDeps): Step | undefined {
  const error = overBudget(run, deps);
  return error ? { type: 'fail', error } : undefined;
}
