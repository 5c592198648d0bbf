/** Runs about a plan in a file: one saves the plan and asks no model, one reads it and then executes it. */

import { createPlan } from '../../../../shared/tools/create-plan.ts';
import { readFile } from '../../../../shared/tools/read-file.ts';
import { savePlan } from '../../../../shared/tools/save-plan.ts';
import { parsePlanFile, type ReadPlan } from '../../../../shared/wire/plan-file.ts';
import { atStart } from '../../calls/plans.ts';
import type { RequestOf, Turn } from '../../store/rows.ts';
import type { RunDeps } from '../run-deps.ts';
import { callStep, endStep, resultOf } from './own-steps.ts';
import type { Step } from './step.ts';

type PlanFileDeps = Pick<RunDeps, 'log' | 'recorder' | 'now' | 'newUuid'>;

/** Saves the plan, and says what came of it. */
export function saveStep({ save }: RequestOf<'save'>, deps: PlanFileDeps): Step {
  const turn = turnOfPlan(deps);
  if (!turn) return callStep('plan', savePlan.name, { ...save }, deps);
  const isSaved = resultOf(turn, deps.recorder)?.status !== 'error';
  const text = isSaved ? `The plan is saved in \`${save.path}\`.` : 'The plan was not saved.';
  return endStep(isSaved ? 'completed' : 'error', text, deps);
}

/** Reads the plan and shows it; undefined once the run has it. */
export function openStep(request: RequestOf<'plan_file'>, deps: PlanFileDeps): Step | undefined {
  if (request.plan) return undefined;
  const { planFile: path } = request;
  const turn = turnOfPlan(deps);
  if (!turn) return callStep('plan', readFile.name, { target_file: path }, deps);
  const result = resultOf(turn, deps.recorder);
  const data = String(result?.data ?? 'it could not be read');
  const read =
    result?.status === 'success' ? readNumbered(data) : { ok: false as const, problem: data };
  if (!read.ok)
    return fail('PLAN_UNREADABLE', `The plan in ${path} cannot be executed: ${read.problem}`);
  const { title, overview, content, todos } = read.plan;
  const isOver = todos.length > 0 && todos.every(({ status }) => FINISHED.has(status));
  if (isOver) return fail('PLAN_FINISHED', `All todos of the plan in ${path} are finished.`);
  const args = { name: title, overview, plan: content || overview || title, todos };
  const metadata = { title, overview, todos, format: 'markdown', version: 1, list: todos };
  // The run gets the plan, and shows it by a call that has its result already.
  return {
    ...callStep('plan', createPlan.name, args, deps),
    request: { ...request, plan: atStart({ version: 1, ...read.plan }) },
    result: { status: 'success', data: 'Read from a file.', metadata },
  };
}

/** A run in a worktree has a turn of its own before it. */
function turnOfPlan({ log }: PlanFileDeps): Turn | undefined {
  return log.turns.findLast(({ own }) => own === 'plan');
}

const FINISHED: ReadonlySet<string> = new Set(['completed', 'cancelled']);

function fail(code: string, message: string): Step {
  return { type: 'fail', error: { code, source: 'drawbridge', message } };
}

/** The file behind the line numbers of `read_file`, which also notes what it leaves out. */
function readNumbered(data: string): ReadPlan {
  const lines = data.split('\n').map((line) => /^\d+\|(.*)$/.exec(line)?.[1]);
  if (lines.every((line) => line === undefined)) return { ok: false, problem: 'it is empty' };
  const isWhole = lines.every((line) => line !== undefined && !CUT.test(line));
  if (!isWhole) return { ok: false, problem: 'it is too long to be read at once, or no UTF-8' };
  return parsePlanFile(lines.join('\n'));
}

/** What `read_file` puts at the end of a line that it cuts. */
const CUT = /… \(\d+ more characters\)$/;
