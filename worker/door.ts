/**
 * What the Worker gives to its doors, which are the APIs of others: the desk of a request (`deskOf`), conversations and
 * agents by their ids, streams, and the description of endpoints.
 */
export {
  type AppContext,
  personOf,
  requireRight,
  senderOf,
  stillAskedBy,
} from './account/caller.ts';
export { parseCursor } from './account/cursor.ts';
export { turnOf } from './account/heavy-work.ts';
export { countRun } from './account/rate-limit.ts';
export { archiveAgent, createAgent, followUp, readAgent } from './agents/desk.ts';
export { readDocument } from './conversation/reading/requests.ts';
export { type Sending, SUBMIT_ERRORS, type Submitted, submitMessage } from './desk/accept.ts';
export { type AnswerPlace, type ApiDesk, deskOf } from './desk/api-desk.ts';
export { deleteConversation } from './desk/delete.ts';
export { sentWith } from './desk/idempotency.ts';
export { parse, parseBody, parseId, parseMessage, takeBody } from './desk/parse.ts';
export { readBytes } from './desk/read-text.ts';
export {
  describePage,
  describeQuery,
  type Endpoint,
  type EndpointAnswer,
  IDEMPOTENCY_KEY,
  jsonAnswer,
  type Operation,
  type Serve,
} from './endpoint.ts';
export type { Env } from './env.ts';
export { AnswerStream } from './follow/answer-stream.ts';
export { attachFirst } from './follow/attach.ts';
export { type Begun, cancelRun } from './follow/cancel-run.ts';
export type { Delivered } from './follow/deliver.ts';
export { refusalOf } from './follow/fold-answer.ts';
export { FOLLOW_LIMITS } from './follow/limits.ts';
export { leave, streamDelivery } from './follow/sse-adapter.ts';
export { SSE_HEADERS, SseWriter } from './follow/sse-writer.ts';
export { logEvent } from './health/log.ts';
export { accountOf, conversationOf } from './objects.ts';
export { originOf } from './origin.ts';
export { type Outcome, unwrap } from './outcome.ts';
export type { ResponseUsage } from './ports/account.ts';
export type { Ordinals } from './ports/conversation.ts';
export { reach } from './reach.ts';
