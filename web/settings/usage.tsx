/** What the account has spent, by day and model. */
import { useEffect, useState } from 'preact/hooks';
import type { UsageEntry } from '../../client/index.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortCost, shortNumber } from '../words/short.ts';

export function Usage({ account }: { readonly account: PageAccount }) {
  const [items, setItems] = useState<readonly UsageEntry[]>([]);
  useEffect(() => {
    const left = new AbortController();
    account.client
      .listUsage({}, left.signal)
      .then((list) => setItems(list.items.toReversed()))
      .catch(() => undefined); // The stream says what is wrong with the server.
    return () => left.abort();
  }, [account]);
  if (items.length === 0) return null;
  return (
    <>
      <h2>{words.usage}</h2>
      <table>
        <tbody>
          {items.map(({ day, model, totalTokens, costs }) => (
            <tr key={`${day} ${model}`}>
              <td>{day}</td>
              <td>{model}</td>
              <td class="number">{words.tokens(shortNumber(totalTokens))}</td>
              <td class="number">{costs.map(shortCost).join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
