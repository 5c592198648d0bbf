/** Questions that the bridge asks a person: shown on the tape, answered from any device, decided at the bridge. */
import { Asked } from '../../../shared/approvals.ts';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import type { ApprovalRequest } from '../../../shared/requests.ts';
import type { ApprovalAsked, ApprovalResolution } from '../../ports.ts';
import type { RunLog } from '../store/run-log.ts';
import type { Recorder } from '../tape/recorder.ts';
import type { TunnelHands } from './hands.ts';

/** Which question is open stands in its document's metadata, put there by the fold. */
export class Approvals {
  readonly #log: RunLog;
  readonly #recorder: Recorder;
  readonly #hands: TunnelHands;
  readonly #bridgeId: string | null;

  /** `bridgeId` is null for a conversation without a bridge, which nobody ever asks about anything. */
  constructor(log: RunLog, recorder: Recorder, hands: TunnelHands, bridgeId: string | null) {
    this.#log = log;
    this.#recorder = recorder;
    this.#hands = hands;
    this.#bridgeId = bridgeId;
  }

  /** A question that is open already is only told again. One with another nonce takes its place. */
  requested(callId: string, { nonce, proposal, reason }: ApprovalAsked): void {
    const bridgeId = this.#bridgeId;
    const call = this.#log.pending.find((pending) => pending.call.callId === callId)?.call;
    if (!call || bridgeId === null) return;
    const { documentId } = call;
    const open = this.#openNonce(documentId);
    if (open === nonce) return;
    const asked = { documentId, callId, bridgeId, nonce, proposal, reason };
    const resolved = { documentId, callId, decision: 'superseded', by: 'drawbridge' } as const;
    this.#log.setDeadline(Date.now() + RUN_LIMITS.approvalMs + RUN_LIMITS.callDeadlineMs);
    this.#recorder.record([
      ...(open === undefined ? [] : [{ type: 'approval_resolved' as const, ...resolved }]),
      { type: 'approval_request', ...asked },
    ]);
  }

  resolved(callId: string, { nonce, decision, by, message }: ApprovalResolution): void {
    const documentId = this.#documentOf(callId);
    if (documentId === undefined || this.#openNonce(documentId) !== nonce) return;
    const event = { type: 'approval_resolved', documentId, callId, decision, by } as const;
    this.#recorder.record([{ ...event, ...(message !== undefined && { message }) }]);
    if (this.#recorder.response?.status === 'waiting') return;
    this.#log.setDeadline(Date.now() + RUN_LIMITS.callDeadlineMs);
  }

  /**
   * Takes the first answer to the question that is open. An approval must be signed; whether the signature is good only
   * the bridge can say: its id is returned.
   */
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
        'nonce: another question has taken the place of this one: look at that, and answer it',
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

  /** Of the question that the document waits with. */
  #openNonce(documentId: string): string | undefined {
    const documents = this.#recorder.response?.documents ?? [];
    const document = documents.find(({ id }) => id === documentId);
    return OpenQuestion.safeParse(document?.metadata['approval']).data?.nonce;
  }
}

/** What the fold keeps of an `approval_request`, as far as it is needed here. */
const OpenQuestion = Asked.pick({ nonce: true });
