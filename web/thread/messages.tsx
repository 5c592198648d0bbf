/** What was said: each message with its answer, the oldest first. */
import { useCallback } from 'preact/hooks';
import type { ChatResponse, ConversationView, UserMessage } from '../../client/index.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { Pending } from '../composer/pending.tsx';
import { useLive } from '../live.ts';
import { THREAD, type Thread } from '../store/thread.ts';
import { words } from '../words/thread.ts';
import { Message } from './message.tsx';
import { Response } from './response.tsx';
import { useFollowing } from './scroll.ts';

interface MessagesProps {
  readonly thread: Thread;
  readonly view: ConversationView;
}

export function Messages({ thread, view }: MessagesProps) {
  const note = useCallback(
    (isAtEnd: boolean) => {
      thread.isAtEnd = isAtEnd;
    },
    [thread],
  );
  const { box, hasNews, toEnd, keepingPlace } = useFollowing(note);
  useLive(thread.host.live, THREAD);
  return (
    <div
      class="messages"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus (WCAG 2.1.1)
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-busy={thread.isBusy}
      aria-label={view.title}
    >
      <div class="column">
        {view.earlier && (
          <button
            type="button"
            onClick={() => thread.host.run(() => keepingPlace(() => thread.readEarlier()))}
          >
            {words.earlier}
          </button>
        )}
        {view.privacy?.deleted && <p class="hint">{words.textDeleted}</p>}
        {exchangesOf(view).map(({ message, response }) => (
          <article class="exchange" key={message?.responseId ?? response?.id}>
            {message && <Message message={message} thread={thread} isWaiting={!response} />}
            {response && <Response item={response} thread={thread} />}
          </article>
        ))}
        <Pending host={thread.host} conversationId={thread.id} />
        <Status thread={thread} />
      </div>
      {hasNews && (
        <button type="button" class="news" onClick={toEnd}>
          {words.newBelow} ↓
        </button>
      )}
    </div>
  );
}

interface ThreadExchange {
  readonly message: UserMessage | undefined;
  readonly response: ChatResponse | undefined;
}

/** Messages that steer stand inside their answer. The preview of an undo shows only what it asks. */
function exchangesOf({ messages, responses }: ConversationView): ThreadExchange[] {
  const byId = new Map(responses.map((response) => [response.id, response]));
  const asked = messages.filter(({ steers }) => !steers);
  const answered = new Set(asked.map(({ responseId }) => responseId));
  return [
    ...responses
      .filter(({ id }) => !answered.has(id))
      .map((response) => ({ message: undefined, response })),
    ...asked
      .map((message) => ({ message, response: byId.get(message.responseId) }))
      .filter(({ message, response }) => !message.preview || response?.status === 'waiting'),
  ];
}

/** For people who do not see the thread grow: what goes on, and not each word of it. */
function Status({ thread }: { readonly thread: Thread }) {
  const { status = 'completed' } = thread.current ?? {};
  const { wait } = thread.current?.metadata ?? {};
  const waits = wait && words.waits[wait.reason](new Date(wait.until).toLocaleTimeString());
  const text = thread.isLost ? words.lost : (waits ?? words.status[status] ?? status);
  return (
    <p class={isOver(status) && !thread.isLost ? 'hidden' : 'status'} role="status">
      {text}
    </p>
  );
}
