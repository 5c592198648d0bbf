/** Approvals: the tape shows the bridge's question, a person answers it on any device, and the bridge decides. */

import type { ApprovalRequest } from '../../../shared/api/requests.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { Asked } from '../../../shared/wire/approvals.ts';
import type { ApprovalAsked, ApprovalResolution } from '../../ports/conversation.ts';
import type { RunLog } from '../log/run-log.ts';
import type { Recorder } from '../tape/recorder.ts';
import type { TunnelHands } from './hands.ts';

/** Holds no state of its own: the fold keeps the open question in its document's metadata. */
export class Approvals {
  readonly #log: RunLog;
  readonly #recorder: Recorder;
  readonly #hands: TunnelHands;
  readonly #bridgeId: string | null;

  /** `bridgeId` is null for a conversation without a bridge, which gets no questions. */
  constructor(log: RunLog, recorder: Recorder, hands: TunnelHands, bridgeId: string | null) {
    this.#log = log;
    this.#recorder = recorder;
    this.#hands = hands;
    this.#bridgeId = bridgeId;
  }

  /** Records a question of the bridge. One that is open already is ignored; another nonce replaces it. */
  requested(callId: string, { nonce, proposal, reason, newText, lasting }: ApprovalAsked): void {
    const bridgeId = this.#bridgeId;
    const call = this.#log.findPending(callId)?.call;
    if (!call || bridgeId === null) return;
    const { documentId } = call;
    const open = this.#openNonce(documentId);
    if (open === nonce) return;
    const more = { ...(newText !== undefined && { newText }), ...(lasting && { lasting }) };
    const asked = { documentId, callId, bridgeId, nonce, proposal, reason, ...more };
    const resolved = { documentId, callId, decision: 'superseded', by: 'drawbridge' } as const;
    this.#log.setDeadline(Date.now() + RUN_LIMITS.approvalMs + RUN_LIMITS.callDeadlineMs);
    this.#recorder.record([
      ...(open === undefined ? [] : [{ type: 'approval_resolved' as const, ...resolved }]),
      { type: 'approval_request', ...asked },
    ]);
  }

  resolved(callId: string, { nonce, decision, by, scope, message }: ApprovalResolution): void {
    const documentId = this.#documentOf(callId);
    if (documentId === undefined || this.#openNonce(documentId) !== nonce) return;
    const event = { type: 'approval_resolved', documentId, callId, decision, by } as const;
    const more = { ...(scope && { scope }), ...(message !== undefined && { message }) };
    this.#recorder.record([{ ...event, ...more }]);
    if (this.#recorder.response?.status === 'waiting') return;
    this.#log.setDeadline(Date.now() + RUN_LIMITS.callDeadlineMs);
  }

  /** Sends an answer to the bridge, and returns its id. An approval has a signature, which the bridge verifies. */
  async answer(callId: string, answer: ApprovalRequest): Promise<string> {
    const documentId = this.#documentOf(callId);
    const bridgeId = this.#bridgeId;
    if (documentId === undefined || bridgeId === null)
      throw new DrawbridgeError('NOT_FOUND', 'There is no such call');
    const open = this.#openNonce(documentId);
    if (open === undefined) {
      throw new DrawbridgeError('ALREADY_ANSWERED', 'This call is not waiting for an approval');
    }
    if (open !== answer.nonce) {
      throw new DrawbridgeError(
        'SUPERSEDED',
        'nonce: a newer question has replaced this one: read and answer the newer one',
      );
    }
    if (answer.decision === 'once' && !answer.signature) {
      throw new DrawbridgeError(
        'APPROVAL_NOT_SIGNED',
        'signature: an approval counts only when signed by a device enrolled at the bridge',
      );
    }
    await this.#hands.answer({ callId, ...answer });
    return bridgeId;
  }

  #documentOf(callId: string): string | undefined {
    const turn = this.#log.turns.at(-1);
    return turn?.calls.find((call) => call.callId === callId)?.documentId;
  }

  #openNonce(documentId: string): string | undefined {
    const metadata = this.#recorder.document(documentId)?.metadata;
    return OpenNonce.safeParse(metadata?.['approval']).data?.nonce;
  }
}

/** The part needed here of what the fold keeps of an `approval_request`. */
const OpenNonce = Asked.pick({ nonce: true });
