/** The content of the element: a thread with a composer, or what is in the way of one. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ClientError, ClientOptions } from '../../client/index.ts';
import { Pending } from '../composer/pending.tsx';
import { useLive } from '../live.ts';
import { THREAD, Thread } from '../store/thread.ts';
import type { ThreadHost } from '../store/thread-host.ts';
import { Messages } from '../thread/messages.tsx';
import { Pinned } from '../thread/pinned.tsx';
import { words } from '../words/thread.ts';
import { Composer, type ComposerProps } from './composer.tsx';
import { newHost } from './host.tsx';

interface EmbeddedProps extends Pick<ComposerProps, 'settings' | 'onConversation'> {
  readonly server: string;
  readonly token: ClientOptions['token'];
  /** Null until the first message begins one. */
  readonly conversation: string | null;
  /** From one that is not there to a new one. */
  leave(): void;
}

/** Must have `server` as its key. */
export function Embedded({ server, token, conversation, leave, ...composing }: EmbeddedProps) {
  const [missing, setMissing] = useState('');
  const [refusal, setRefusal] = useState('');
  const latest = useRef(token);
  latest.current = token;
  const host = useMemo(
    () =>
      newHost({
        server,
        token: () => latest.current,
        onToken: setMissing,
        onRefusal: setRefusal,
      }),
    [server],
  );
  useEffect(() => () => host.outbox.end(), [host]);
  const { thread, again } = useThread(host, conversation, token);
  useLive(host.live, THREAD);
  return (
    <>
      {missing && <p role="alert">{missing}</p>}
      {refusal && (
        <p role="alert">
          {refusal}{' '}
          <button type="button" onClick={() => setRefusal('')}>
            {words.close}
          </button>
        </p>
      )}
      {thread?.problem ? (
        <Problem problem={thread.problem} again={again} leave={leave} />
      ) : (
        <Shown host={host} thread={thread} />
      )}
      {!thread?.problem && !thread?.view?.privacy?.deleted && (
        <Composer host={host} thread={thread} {...composing} />
      )}
    </>
  );
}

/** The conversation, followed while it is shown. One that was refused is read again with another token, or by `again`. */
function useThread(host: ThreadHost, id: string | null, token: ClientOptions['token']) {
  const [attempt, setAttempt] = useState(0);
  const again = () => setAttempt((count) => count + 1);
  const thread = useMemo(
    // An app may take the id from its own URL: it stays one part of the path.
    () => (id === null ? undefined : new Thread(host, encodeURIComponent(id))),
    [host, id, attempt],
  );
  useEffect(() => {
    const left = new AbortController();
    void thread?.follow(left.signal);
    return () => left.abort();
  }, [thread]);
  useEffect(() => {
    if (thread?.problem) again();
  }, [token]);
  return { thread, again };
}

interface ShownProps {
  readonly host: ThreadHost;
  readonly thread: Thread | undefined;
}

function Shown({ host, thread }: ShownProps) {
  if (!thread) {
    return (
      <div class="fill">
        <Pending host={host} conversationId={undefined} />
      </div>
    );
  }
  const { view, isLost } = thread;
  if (!view) {
    return (
      <p class="fill hint" role="status">
        {isLost ? words.lost : words.connecting}
      </p>
    );
  }
  return (
    <>
      <Messages thread={thread} view={view} />
      <Pinned thread={thread} />
    </>
  );
}

interface ProblemProps {
  readonly problem: ClientError;
  again(): void;
  leave(): void;
}

function Problem({ problem, again, leave }: ProblemProps) {
  const isGone = problem.code === 'NOT_FOUND';
  return (
    <div class="fill">
      <p role="alert">
        {isGone ? words.notFound : problem.message}{' '}
        <button type="button" onClick={isGone ? leave : again}>
          {isGone ? words.newConversation : words.tryAgain}
        </button>
      </p>
    </div>
  );
}
