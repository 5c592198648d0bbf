/** A guest's call as a message of the guest's conversation (run/steps/guest.ts has its call). */
import { newTraceId } from '../../shared/wire/trace.ts';
import type { GuestCall } from '../../shared/wire/tunnel.ts';
import type { Posted } from '../ports.ts';
import type { RunLog } from './log/run-log.ts';
import type { RunRequest } from './store/rows.ts';

/** Whether a guest began the conversation. */
export function isOfGuest(log: RunLog): boolean {
  return log.find(1)?.request.type === 'guest';
}

/** The call's id makes the message unique. */
export function guestPosted({ callId, program, path }: GuestCall, nowMs: number): Posted {
  const request: RunRequest = {
    type: 'guest',
    model: program,
    mode: 'agent',
    messages: [{ role: 'user', content: `${program} wants to change ${path}` }],
    guest: { callId, path },
    idempotency: { key: callId, digest: callId },
    trace: newTraceId(crypto.randomUUID()),
    createdMs: nowMs,
  };
  return { request, device: undefined, delivery: 'queue', ownFields: [] };
}
