/** Everything that waits for a person, in all conversations. */
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { useLive } from '../live.ts';
import { BackLink } from '../parts/back-link.tsx';
import { linkTo } from '../route.ts';
import { INBOX, type PageAccount } from '../store/account.ts';
import { words } from '../words/words.ts';
import { AnsweredElsewhere } from './answered.tsx';
import { Approval } from './approval.tsx';
import { Questions } from './questions.tsx';

export function Inbox({ account }: { readonly account: PageAccount }) {
  useLive(account.live, INBOX);
  const { items, questions } = account.waiting;
  return (
    <section class="inbox">
      <header class="bar">
        <BackLink />
        <h1>{words.inbox}</h1>
      </header>
      <div class="fill column">
        <AnsweredElsewhere account={account} />
        {account.waitingCount === 0 && <p class="hint">{words.nothingWaits}</p>}
        {items.map((item) => (
          <article key={item.nonce}>
            <TitleLink {...item} />
            <Approval item={item} account={account} />
          </article>
        ))}
        {questions.map((item) => (
          <article key={`${item.responseId} ${item.documentId}`}>
            <TitleLink {...item} />
            <Questions item={item} host={account} />
          </article>
        ))}
      </div>
    </section>
  );
}

function TitleLink({
  conversationId,
  title,
}: {
  readonly conversationId: string;
  readonly title: string;
}) {
  return (
    <h2>
      <a href={linkTo({ at: 'conversation', id: conversationId })}>{inOneLine(title)}</a>
    </h2>
  );
}
