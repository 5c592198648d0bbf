/** How much of the model's window the conversation fills. */
import type { ModelList } from '../../shared/api/listings.ts';
import { useLive } from '../live.ts';
import { THREAD, type Thread } from '../store/thread.ts';
import { shortNumber } from '../words/short.ts';
import { words } from '../words/words.ts';

interface ContextMeterProps {
  readonly thread: Thread;
  readonly models: ModelList;
}

/** Shows nothing until a server has counted. */
export function ContextMeter({ thread, models }: ContextMeterProps) {
  useLive(thread.host.live, THREAD);
  const counted = thread.view?.responses.findLast(({ metadata }) => metadata.contextTokens);
  const { contextTokens } = counted?.metadata ?? {};
  if (!counted || contextTokens === undefined) return null;
  const model = models.items.find(({ id }) => id === counted.model);
  const window = model?.contextWindow;
  const share = window === undefined ? '' : ` / ${shortNumber(window)}`;
  return (
    <span class="context" title={words.contextHelp}>
      {window !== undefined && (
        <meter min={0} max={window} value={contextTokens} aria-label={words.contextHelp} />
      )}
      {words.tokens(`${shortNumber(contextTokens)}${share}`)}
    </span>
  );
}
