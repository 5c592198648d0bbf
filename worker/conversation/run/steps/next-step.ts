/** Finds what a run does before it asks the model. */
import { guestEdit } from '../../../../shared/tools/guest-edit.ts';
import { listEvents, listSequence } from '../../calls/plans.ts';
import type { Run } from '../../store/rows.ts';
import { overBudget } from '../budget.ts';
import type { RunDeps } from '../run-deps.ts';
import { checkStep } from './debug-check.ts';
import { steerStep } from './looks.ts';
import { planFileStep } from './plan-files.ts';
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

const IN_ORDER: readonly ((run: Run, deps: RunDeps) => Step | undefined)[] = [
  guestStep,
  checkStep,
  listStep,
  worktreeStep,
  planFileStep,
  undoStep,
  budgetStep,
  steerStep,
];

/** A guest's run (another agent program that wants to change a file) has one turn, and ends with its result. */
function guestStep({ request }: Run, { log }: RunDeps): Step | undefined {
  if (request.type !== 'guest') return undefined;
  if (log.turns.length > 0) return { type: 'end', status: 'completed' };
  const { callId, path } = request.guest;
  const call = { callId, name: guestEdit.name, args: { proposal: callId, path } };
  return { type: 'turn', calls: [call], isChecked: true };
}

/** A run that executes a plan begins its answer with the plan's todos as the list, once. */
function listStep({ request }: Run, { recorder }: RunDeps): Step | undefined {
  if (request.type !== 'plan' || listSequence(request) < recorder.nextSequence) return undefined;
  return { type: 'show', events: listEvents(request.plan) };
}

function budgetStep(run: Run, deps: RunDeps): Step | undefined {
  const error = overBudget(run, deps);
  return error ? { type: 'fail', error } : undefined;
}
