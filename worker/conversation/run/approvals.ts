/** Questions that the bridge asks a person: shown on the tape, answered from any device, decided at the bridge. */
import { DrawbridgeError } from '../../../shared/errors.ts';
import type { TapeEvent } from '../../../shared/events.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { ApprovalRequest } from '../../../shared/requests.ts';
import { findTool } from '../../../shared/tools/catalogue.ts';
import type { Recorder } from '../tape/recorder.ts';
import type { TunnelHands } from './hands.ts';
import type { RunLog } from './run-log.ts';

/** How a question ended, as the bridge says. */
export type ApprovalResolution = Pick<
  Extract<TapeEvent, { type: 'approval_resolved' }>,
  'decision' | 'by' | 'message'
>;

/** Whether a question is open stands in its document's metadata, put there by the fold. */
export class Approvals {
  readonly #log: RunLog;
  readonly #recorder: Recorder;
  readonly #hands: TunnelHands;

  constructor(log: RunLog, recorder: Recorder, hands: TunnelHands) {
    this.#log = log;
    this.#recorder = recorder;
    this.#hands = hands;
  }

  requested(callId: string, reason: string): void {
    const call = this.#log.pending.find((pending) => pending.call.callId === callId)?.call;
    if (!call?.arguments || this.#isOpen(call.documentId)) return;
    const toolName = findTool(call.name)?.name ?? call.name;
    this.#log.setDeadline(Date.now() + RUN_LIMITS.approvalMs + RUN_LIMITS.callDeadlineMs);
    this.#recorder.record([
      {
        type: 'approval_request',
        documentId: call.documentId,
        callId,
        toolName,
        arguments: call.arguments,
        reason,
      },
    ]);
  }

  resolved(callId: string, { decision, by, message }: ApprovalResolution): void {
    const documentId = this.#documentOf(callId);
    if (documentId === undefined || !this.#isOpen(documentId)) return;
    const event = { type: 'approval_resolved', documentId, callId, decision, by } as const;
    this.#recorder.record([{ ...event, ...(message !== undefined && { message }) }]);
    if (this.#recorder.response?.status === 'waiting') return;
    this.#log.setDeadline(Date.now() + RUN_LIMITS.callDeadlineMs);
  }

  /** Takes the first answer. An approval must be signed; whether the signature is good only the bridge can say. */
  async answer(callId: string, answer: ApprovalRequest): Promise<void> {
    const documentId = this.#documentOf(callId);
    if (documentId === undefined) throw new DrawbridgeError('NOT_FOUND', 'There is no such call');
    if (!this.#isOpen(documentId)) {
      throw new DrawbridgeError('ALREADY_ANSWERED', 'This call is not waiting for an approval');
    }
    if (answer.decision === 'once' && !answer.signature) {
      throw new DrawbridgeError(
        'APPROVAL_NOT_SIGNED',
        'signature: an approval counts only when signed by a device enrolled at the bridge',
      );
    }
    await this.#hands.answer({ callId, ...answer });
  }

  #documentOf(callId: string): string | undefined {
    const turn = this.#log.turns.at(-1);
    return turn?.calls.find((call) => call.callId === callId)?.documentId;
  }

  #isOpen(documentId: string): boolean {
    const documents = this.#recorder.response?.documents ?? [];
    return documents.some(
      ({ id, metadata }) => id === documentId && metadata['approval'] !== undefined,
    );
  }
}
