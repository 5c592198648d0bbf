/** Who signed in, exported or deleted in this account. */
import { useState } from 'preact/hooks';
import type { ActRecord } from '../../shared/api/records.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortTime } from '../words/short.ts';

export function Records({ account: { client } }: { readonly account: PageAccount }) {
  const [records, setRecords] = useState<readonly ActRecord[]>([]);
  /** Undefined before the first page, null after the last one. */
  const [cursor, setCursor] = useState<string | null>();
  const read = async () => {
    const page = await client.listRecords(cursor ? { cursor } : {});
    setRecords([...records, ...page.items]);
    setCursor(page.nextCursor);
  };
  return (
    <>
      <h2>{words.records}</h2>
      <ul class="rows">
        {records.map(({ at, action, subject }) => (
          <li key={`${at} ${action} ${subject}`}>
            <span>{words.acts[action] ?? action}</span>
            <code>{inOneLine(subject)}</code>
            <time dateTime={at}>{shortTime(at)}</time>
          </li>
        ))}
      </ul>
      {cursor !== null && (
        <button type="button" onClick={() => void read()}>
          {cursor === undefined ? words.show : words.loadMore}
        </button>
      )}
    </>
  );
}
