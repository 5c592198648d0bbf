/** What a person said, and what can still be done with it while it waits. */
import { useState } from 'preact/hooks';
import type { UserMessage } from '../../client/index.ts';
import type { Thread } from '../store/thread.ts';
import { shortTime } from '../words/short.ts';
import { words } from '../words/thread.ts';

interface MessageProps {
  readonly message: UserMessage;
  readonly thread: Thread;
  /** Whether no answer has begun. */
  readonly isWaiting: boolean;
}

export function Message({ message, thread, isWaiting }: MessageProps) {
  const { content, imageCount, created, device, cancelled, steers } = message;
  const { client, fork, run, Images } = thread.host;
  const canBranch = fork && !isWaiting && !steers && !thread.isSubagent;
  const [isEditing, setEditing] = useState(false);
  const close = () => setEditing(false);
  const isQueued = isWaiting && !cancelled && !steers;
  return (
    <div class={`message${cancelled ? ' cancelled' : ''}`}>
      <h2 class="who">
        {thread.isSubagent ? words.agent : words.you}
        {device && <span> · {device}</span>} <time dateTime={created}>{shortTime(created)}</time>
      </h2>
      {isEditing ? (
        <Edited message={message} thread={thread} isWaiting={isWaiting} close={close} />
      ) : (
        <p class="said">{content}</p>
      )}
      {canBranch && !isEditing && (
        <button
          type="button"
          class="quiet"
          title={words.editAgain}
          onClick={() => setEditing(true)}
        >
          {words.edit}
        </button>
      )}
      {imageCount && Images && !steers && <Images message={message} />}
      {imageCount && (steers || !Images) && <p class="hint">{words.images(imageCount)}</p>}
      {cancelled && <p class="hint">{words.taken}</p>}
      {steers && <p class="hint">{words.steers}</p>}
      {isQueued && !isEditing && (
        <p class="hint actions">
          {words.queued}
          <button type="button" onClick={() => setEditing(true)}>
            {words.edit}
          </button>
          <button type="button" onClick={() => run(() => client.cancel(message.responseId))}>
            {words.takeBack}
          </button>
        </p>
      )}
    </div>
  );
}

/** Changes a message that waits. One that was answered is sent again, in a conversation that begins before it. */
function Edited({ message, thread, isWaiting, close }: MessageProps & { close(): void }) {
  const [problem, setProblem] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const content = String(new FormData(event.currentTarget as HTMLFormElement).get('content'));
    try {
      await thread.host.change(thread, { ...message, content }, isWaiting);
      close();
    } catch (error) {
      // Its turn may have come meanwhile.
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form onSubmit={submit}>
      <textarea name="content" aria-label={words.message} defaultValue={message.content} />
      <button type="submit">{isWaiting ? words.save : words.send}</button>
      <button type="button" onClick={close}>
        {words.cancel}
      </button>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}
