/** Messages that the server may not have yet. */

import { useLive } from '../live.ts';
import type { Account } from '../store/account.ts';
import { OUTBOX } from '../store/outbox.ts';
import { words } from '../words/words.ts';

interface Props {
  readonly account: Account;
  /** Undefined for new conversations. */
  readonly conversationId: string | undefined;
}

export function Pending({ account, conversationId }: Props) {
  useLive(account.live, OUTBOX);
  const mine = account.outbox.unsent.filter(({ input }) => input.conversationId === conversationId);
  return (
    <>
      {mine.map(({ key, input }) => (
        <div class="message pending" key={key}>
          <p class="said">{textOf(input.messages.at(-1)?.content ?? '')}</p>
          <p class="hint">{words.notSent}</p>
        </div>
      ))}
    </>
  );
}

type Content = NonNullable<
  Account['outbox']['unsent'][number]['input']['messages'][number]
>['content'];

function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
