/** What the server can answer with. Its operator chooses. */
import type { ModelInfo } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { useLive } from '../live.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortNumber } from '../words/short.ts';

export function Models({ account }: { readonly account: PageAccount }) {
  useLive(account.live, LIST);
  const { items, passesThrough } = account.models;
  return (
    <>
      <h2>{words.models}</h2>
      {items.length === 0 && !passesThrough && (
        <p class="hint">{account.link === 'live' ? words.noModels : words.connecting}</p>
      )}
      <ul class="rows">
        {items.map((model) => (
          <li key={model.id}>
            <code>{inOneLine(model.id)}</code>
            <p class="hint">{factsOf(model).join(' · ')}</p>
          </li>
        ))}
      </ul>
      {passesThrough && <p class="hint">{words.otherModels}</p>}
    </>
  );
}

function factsOf(model: ModelInfo): string[] {
  const { isDefault, takesImages, isPrivate, roles = [], contextWindow, prices } = model;
  return [
    ...(isDefault ? [words.defaultModel] : []),
    ...roles.map((role) => words.roles[role] ?? role),
    ...(takesImages ? [words.takesImages] : []),
    ...(isPrivate ? [words.answersPrivately] : []),
    ...(contextWindow === undefined ? [] : [words.window(shortNumber(contextWindow))]),
    ...(prices ? [words.prices(prices.input, prices.output, prices.currency)] : []),
  ];
}
