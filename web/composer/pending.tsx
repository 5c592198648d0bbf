/** Messages that the server may not have yet. */

import { useLive } from '../live.ts';
import { OUTBOX } from '../store/outbox.ts';
import type { ThreadHost } from '../store/thread-host.ts';
import { words } from '../words/thread.ts';

interface PendingProps {
  readonly host: Pick<ThreadHost, 'live' | 'outbox'>;
  /** Undefined for new conversations. */
  readonly conversationId: string | undefined;
}

export function Pending({ host, conversationId }: PendingProps) {
  useLive(host.live, OUTBOX);
  const mine = host.outbox.unsent.filter(({ input }) => input.conversationId === conversationId);
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
  ThreadHost['outbox']['unsent'][number]['input']['messages'][number]
>['content'];

function textOf(content: Content): string {
  if (typeof content === 'string') return content;
  return content
    .map((part) => ('text' in part ? part.text : 'path' in part ? `@${part.path}` : ''))
    .join('');
}
