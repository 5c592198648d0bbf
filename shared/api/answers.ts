/** The API's short answers, which are neither documents nor lists. */
import * as z from 'zod';
import { CallId, DocumentId, ResponseId } from '../ids.ts';
import { named } from '../named.ts';
import { ResponseStatus } from '../wire/documents.ts';
import { ApprovalAnswer } from '../wire/tunnel.ts';

/**
 * `GET /health`: the Worker runs. It does not check objects, bridges or the model. `damaged`: objects whose files could
 * not be read when something asked for them, since the start.
 */
export const Health = z.object({ status: z.literal('ok'), damaged: z.int().nonnegative() });
named.add(Health, { id: 'Health' });

/** An event of `GET /health/stream`. */
export const StreamTest = z.object({ part: z.int(), of: z.int() });
named.add(StreamTest, { id: 'StreamTest' });

/** `POST chat/completions/{id}/cancel`: the status at this moment. The run's `done` event says how the run ended. */
export const Cancelled = z.object({ id: ResponseId, status: ResponseStatus });
named.add(Cancelled, { id: 'Cancelled' });
export type Cancelled = z.infer<typeof Cancelled>;

/** `GET chat/completions/{id}/images`: in the order of the message. */
export const MessageImages = z.object({
  /** `url`: as the message has it, https or `data:`. */
  items: z.array(z.object({ url: z.string() })),
});
named.add(MessageImages, { id: 'MessageImages' });
export type MessageImages = z.infer<typeof MessageImages>;

/** `POST conversations/{id}/approvals/{callId}`: the answer counted, or the bridge has not refused it yet. */
export const ApprovalTaken = z.object({
  callId: CallId,
  decision: ApprovalAnswer.shape.decision,
});
named.add(ApprovalTaken, { id: 'ApprovalTaken' });

/** `POST conversations/{id}/clarifications/{documentId}`. */
export const ClarificationTaken = z.object({ documentId: DocumentId });
named.add(ClarificationTaken, { id: 'ClarificationTaken' });
