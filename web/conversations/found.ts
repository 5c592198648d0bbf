import { useEffect, useState } from 'preact/hooks';
import type { ConversationInfo } from '../../client/index.ts';
import type { PageAccount } from '../store/account.ts';

/** The server's answer for words and for the archive; undefined where the account's own list shows everything. */
export function useFound(account: PageAccount, search: string, archived: boolean) {
  const [found, setFound] = useState<{ items: readonly ConversationInfo[] }>();
  useEffect(() => {
    if (search.trim() === '' && !archived) return setFound(undefined);
    const over = new AbortController();
    const wait = setTimeout(async () => {
      const query = { archived: `${archived}`, ...(search.trim() && { search }) } as const;
      const list = await account.client
        .listConversations(query as object, over.signal)
        .catch(() => ({ items: [] }));
      if (!over.signal.aborted) setFound(list);
    }, SEARCH_MS);
    return () => {
      clearTimeout(wait);
      over.abort();
    };
  }, [account, search, archived]);
  return found;
}

/** Typing on waits no longer than this for its result. */
const SEARCH_MS = 200;
