/** Asks a language model over any of its APIs, and reads the streamed answer. */
export type { CallPiece } from './assembly.ts';
export { toCallId, type UpstreamCall } from './calls.ts';
export { CONTEXT_LENGTH_EXCEEDED, isContextOverflow } from './context-overflow.ts';
export { addCosts, costOf } from './cost.ts';
export { type Fallback, nextModel } from './fallback.ts';
export { askModel, type GatewayAnswer } from './gateway.ts';
export { UPSTREAM_LIMITS } from './limits.ts';
export { parseObject } from './loose-json.ts';
export {
  isConfigured,
  listModels,
  type ModelEnv,
  type ModelTarget,
  modelForRole,
  modelsOfRun,
  privateSettings,
  resolveModel,
  resolveTarget,
} from './models.ts';
export type { ReplyPart, UpstreamReply } from './reader.ts';
export type { AfterRefusal, RefusedHistory } from './refusals/ladder.ts';
export type { UpstreamMessage, UpstreamRequest } from './request.ts';
export { isRateLimit, retryDelayMs } from './retry.ts';
export { WellFormedText } from './well-formed.ts';
