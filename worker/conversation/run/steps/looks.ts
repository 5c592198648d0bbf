/** Looks at the machine in the middle of a run, before the model gets the messages that they are about. */
import { mentionsIn } from '../../../../shared/api/requests.ts';
import { responseIdOf } from '../../../../shared/ids.ts';
import type { Run } from '../../store/rows.ts';
import { attachedEvents } from '../../tape/run-events.ts';
import type { RunDeps } from '../run-deps.ts';
import type { Step } from './step.ts';

type LookDeps = Pick<RunDeps, 'hands' | 'log' | 'recorder' | 'conversationId'>;

/** Looks at the run's worktree, which was made after the look before the run. */
export async function lookAtWorktree(run: Run, deps: LookDeps): Promise<void> {
  const { hands, log, recorder, conversationId } = deps;
  const look = hands.look((digest) => log.heldOffers(digest), run.request);
  const machine = (await look.catch(() => null)) ?? run.machine;
  const { current } = log;
  if (current?.ordinal !== run.ordinal || !machine) return;
  log.changeMachine(current, { ...machine, isInWorktree: true });
  const responseId = responseIdOf(conversationId, run.ordinal);
  recorder.record(attachedEvents(responseId, machine.findings?.attachments));
}

/** Looks up the mentions of the messages that have steered the run and wait to be sent. */
export function steerStep(run: Run, deps: LookDeps): Step | undefined {
  const { hands, log, recorder, conversationId } = deps;
  const unseen = [...log.leftMessages, ...log.steeringMessages].filter(
    ({ turns, attachments, content }) =>
      turns === null && attachments === undefined && mentionsIn(content).length > 0,
  );
  if (unseen.length === 0) return undefined;
  const look = async () => {
    // All at once, so it takes no longer than one of them.
    const found = await Promise.all(
      unseen.map(({ content }) => hands.findMentioned(content, run.request)),
    );
    if (log.current?.ordinal !== run.ordinal) return;
    for (const [index, steer] of unseen.entries()) log.attach(steer, found[index] ?? []);
    recorder.record(attachedEvents(responseIdOf(conversationId, run.ordinal), found.flat()));
  };
  return { type: 'look', look };
}
