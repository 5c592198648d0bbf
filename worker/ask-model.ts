/** Asks the model, counts what it took, and logs why a server was not reached. */
import { askModel, type GatewayAnswer } from '../packages/model/index.ts';
import { logEvent } from './health/log.ts';
import { metrics } from './health/metrics.ts';

/** As `askModel` of the package, which knows of no log and no metrics. */
export async function askCounted(...asked: Parameters<typeof askModel>): Promise<GatewayAnswer> {
  const answer = await askModel(...asked);
  const [, { model }] = asked;
  const { outcome, usage } = answer.reply;
  const { unreached: message } = answer;
  if (message !== undefined) logEvent('upstream_unreachable', { model, message });
  metrics.modelRequests.add({ model, outcome });
  if (!usage) return answer;
  const { promptTokens, completionTokens, cachedPromptTokens, reasoningTokens } = usage;
  metrics.tokens.add({ model, kind: 'input' }, promptTokens);
  metrics.tokens.add({ model, kind: 'output' }, completionTokens);
  if (cachedPromptTokens) metrics.tokens.add({ model, kind: 'cached_input' }, cachedPromptTokens);
  if (reasoningTokens) metrics.tokens.add({ model, kind: 'reasoning' }, reasoningTokens);
  return answer;
}
