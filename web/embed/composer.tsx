/** Where a person writes in the page of an app: a field, and what sends and stops. */
import { useRef, useState } from 'preact/hooks';
import type { ChatInput } from '../../client/index.ts';
import { isOfInputMethod } from '../parts/input-method.ts';
import type { Thread } from '../store/thread.ts';
import type { ThreadHost } from '../store/thread-host.ts';
import { words } from '../words/thread.ts';

export interface ComposerProps {
  readonly host: ThreadHost;
  /** Absent: the first message begins a conversation. */
  readonly thread: Thread | undefined;
  /** What messages ask for. */
  readonly settings: Pick<ChatInput, 'mode' | 'model' | 'bridgeId'>;
  /** The first message has begun a conversation. */
  onConversation(id: string): void;
}

export function Composer({ host, thread, settings, onConversation }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  /** A second message before the conversation has an id would begin another one. */
  const [isBeginning, setBeginning] = useState(false);
  const { client, outbox, run } = host;
  const send = async () => {
    const { current } = field;
    const content = current?.value ?? '';
    if (!current || isBeginning || content.trim() === '') return;
    current.value = '';
    setBeginning(!thread);
    try {
      const { conversationId } = await outbox.send({
        ...settings,
        messages: [{ role: 'user', content }],
        include: ['reasoning'],
        ...(thread && { conversationId: thread.id, delivery: 'queue' }),
      });
      if (!thread) onConversation(conversationId);
    } catch (error) {
      // What was refused comes back, with what was typed meanwhile behind it.
      current.value = [content, current.value].filter(Boolean).join('\n');
      throw error;
    } finally {
      setBeginning(false);
    }
  };
  const { current: response } = thread ?? {};
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        run(send);
      }}
    >
      <textarea
        ref={field}
        rows={1}
        aria-label={words.message}
        placeholder={words.message}
        onKeyDown={(event) => {
          // On a phone the keyboard's return key makes a new line, as everywhere there.
          if (event.key !== 'Enter' || event.shiftKey || isOfInputMethod(event) || isTouch())
            return;
          event.preventDefault();
          run(send);
        }}
      />
      {thread?.isBusy && response && (
        <button type="button" class="stop" onClick={() => run(() => client.cancel(response.id))}>
          {words.stop}
        </button>
      )}
      <button type="submit" class="main" disabled={isBeginning}>
        {words.send}
      </button>
    </form>
  );
}

function isTouch(): boolean {
  return matchMedia('(pointer: coarse)').matches;
}
