/** What was answered elsewhere while it stood in the inbox. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ClientError } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { OpenApproval } from '../../shared/wire/approvals.ts';
import type { AnsweredApproval } from '../../shared/wire/events.ts';
import { linkTo } from '../route.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/words.ts';
import { AnsweredLine, answeredIn } from './answered-line.tsx';

/** The approvals that left the inbox while it was open, without an answer of this page. */
export function AnsweredElsewhere({ account }: { readonly account: PageAccount }) {
  const [gone, setGone] = useState<readonly Gone[]>([]);
  const { items } = account.waiting;
  const before = useRef(items);
  useEffect(() => {
    const waits = new Set(items.map(({ callId }) => callId));
    const left = before.current.filter(
      ({ callId, nonce }) => !waits.has(callId) && !account.answered.has(nonce),
    );
    before.current = items;
    void Promise.all(left.map((item) => outcomeOf(account, item))).then((news) => {
      if (news.length > 0) setGone((known) => [...news, ...known]);
    });
  }, [account, items]);
  return (
    <div role="status">
      {gone.map(({ nonce, conversationId, title, answered }) => (
        <article key={nonce}>
          <a href={linkTo({ at: 'conversation', id: conversationId })}>{inOneLine(title)}</a>
          {answered ? <AnsweredLine {...answered} /> : <p class="hint">{words.goneElsewhere}</p>}
        </article>
      ))}
    </div>
  );
}

interface Gone extends OpenApproval {
  /** Undefined where the server does not say it any more. */
  readonly answered: AnsweredApproval | undefined;
}

async function outcomeOf({ client }: PageAccount, item: OpenApproval): Promise<Gone> {
  try {
    const { documents } = await client.getResponse(item.responseId);
    return { ...item, answered: answeredIn(documents.find(({ id }) => id === item.documentId)) };
  } catch (error) {
    if (error instanceof ClientError) return { ...item, answered: undefined };
    throw error;
  }
}
