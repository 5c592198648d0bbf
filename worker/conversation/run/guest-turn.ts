/** The run of a guest: another agent program at the bridge, which wants to change a file. Its one turn asks no model. */
import type { TapeEvent } from '../../../shared/events.ts';
import { guestEdit } from '../../../shared/tools/guest-edit.ts';
import { ReplyDocuments } from '../../reply/documents.ts';
import { toCallId } from '../../upstream/calls.ts';
import { logCalls } from '../calls/calls.ts';
import { toolboxOf } from '../store/offered-tools.ts';
import type { Call, NewTurn, Run, RunRequest } from '../store/rows.ts';

export type GuestRequest = NonNullable<RunRequest['guest']>;

/** A turn without words. */
export const EMPTY_TURN = { text: '', reasoning: null, usage: null } satisfies Partial<NewTurn>;

/** The events of the turn's document, and the call as the log stores it. */
export function guestTurn(
  run: Run,
  { callId, path }: GuestRequest,
  nextSequence: number,
): { events: TapeEvent[]; calls: Call[] } {
  const toolbox = toolboxOf(run);
  const newCallId = () => callId;
  const documents = new ReplyDocuments({ nextSequence, newCallId, withReasoning: false, toolbox });
  const args = { proposal: callId, path };
  const { name } = guestEdit;
  const rawArguments = JSON.stringify(args);
  const shown = documents.push([{ type: 'call', call: 0, name, arguments: rawArguments }]);
  const id = toCallId(callId);
  const call = { id, name, rawArguments, arguments: args, mayExecute: true };
  const { events, calls } = documents.end({ calls: [call] });
  return { events: [...shown, ...events], calls: logCalls(calls, new Set(), toolbox) };
}
