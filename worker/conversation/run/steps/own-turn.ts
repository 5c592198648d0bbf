/** Makes the events and the calls of a turn that asks no model. */

import { toCallId } from '../../../../packages/model/index.ts';
import { newCallId } from '../../../../shared/ids.ts';
import type { TapeEvent } from '../../../../shared/wire/events.ts';
import { ReplyDocuments } from '../../../reply/documents.ts';
import { logCalls } from '../../calls/calls.ts';
import { toolboxOf } from '../../log/offered-tools.ts';
import type { Call, NewTurn, Run } from '../../store/rows.ts';

/** A turn without words. */
export const EMPTY_TURN = { text: '', reasoning: null, usage: null } satisfies Partial<NewTurn>;

/** A call that no model has made. */
export interface OwnCall {
  readonly callId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The events of the turn's documents, and the calls as the log stores them. */
export function turnOf(
  own: readonly OwnCall[],
  run: Run,
  nextSequence: number,
): { events: TapeEvent[]; calls: Call[] } {
  const toolbox = toolboxOf(run);
  const callIds = own.map(({ callId }) => callId);
  const options = { nextSequence, withReasoning: false, toolbox };
  const documents = new ReplyDocuments({
    ...options,
    newCallId: () => callIds.shift() ?? newCallId(crypto.randomUUID()),
  });
  const parts = own.map(({ name, args }, index) => {
    return { type: 'call', call: index, name, arguments: JSON.stringify(args) } as const;
  });
  const shown = documents.push(parts);
  const calls = own.map(({ callId, name, args }) => {
    const rawArguments = JSON.stringify(args);
    return { id: toCallId(callId), name, rawArguments, arguments: { ...args }, mayExecute: true };
  });
  const ended = documents.end({ calls });
  return { events: [...shown, ...ended.events], calls: logCalls(ended.calls, new Set(), toolbox) };
}
