/** How much of the model's window the conversation fills. */
import { useLive } from '../live.ts';
import { THREAD, type Thread } from '../store/thread.ts';
import { shortNumber, words } from '../words/words.ts';

/** Shows nothing until a server has counted. */
export function ContextMeter({ thread }: { readonly thread: Thread }) {
  useLive(thread.account.live, THREAD);
  const counted = thread.view?.responses.findLast(({ metadata }) => metadata.contextTokens);
  const { contextTokens } = counted?.metadata ?? {};
  if (!counted || contextTokens === undefined) return null;
  const model = thread.account.models.items.find(({ id }) => id === counted.model);
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
