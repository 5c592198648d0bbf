/** The run of a guest: another agent program at the bridge, which wants to change a file. */
import { guestEdit } from '../../../../shared/tools/guest-edit.ts';
import type { Run } from '../../store/rows.ts';
import type { RunDeps } from '../run-deps.ts';
import type { Step } from './step.ts';

/** The run has one turn, with the guest's call, and ends with the call's result. */
export function guestStep({ request }: Run, { log }: RunDeps): Step | undefined {
  if (request.type !== 'guest') return undefined;
  if (log.turns.length > 0) return { type: 'end', status: 'completed' };
  const { callId, path } = request.guest;
  const call = { callId, name: guestEdit.name, args: { proposal: callId, path } };
  return { type: 'turn', calls: [call], isChecked: true };
}
