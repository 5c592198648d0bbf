/** The place of one conversation: what was said, and the composer below it. */
import { useEffect, useMemo } from 'preact/hooks';
import type { BridgeInfo, ConversationView } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { chooseMode } from '../composer/choices.tsx';
import { Composer } from '../composer/composer.tsx';
import { folderName } from '../conversations/folder-name.ts';
import { stopAnswers } from '../conversations/stop.ts';
import { Subagent } from '../conversations/subagent.tsx';
import { Approval } from '../inbox/approval.tsx';
import { later } from '../later.tsx';
import { useLive } from '../live.ts';
import { BackLink } from '../parts/back-link.tsx';
import { Folded } from '../parts/folded.tsx';
import { linkTo } from '../route.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import { forgetSeen, keepSeen, readSeen } from '../store/seen.ts';
import { THREAD, Thread } from '../store/thread.ts';
import type { ThreadHost } from '../store/thread-host.ts';
import { words } from '../words/words.ts';
import { sendingAgain } from './again.ts';
import { ContextMeter } from './context-meter.tsx';
import { Messages } from './messages.tsx';
import { Pinned } from './pinned.tsx';

const Background = later(
  async () => (await import('./background.tsx')).Background,
  () => null,
);
const SentImages = later(
  async () => (await import('./sent-images.tsx')).SentImages,
  // Without a network their number has to do.
  ({ message: { imageCount = 0 } }) => <p class="hint">{words.images(imageCount)}</p>,
);
const RuleList = later(async () => (await import('./rule-list.tsx')).RuleList);

interface ThreadPlaceProps {
  readonly account: PageAccount;
  readonly id: string;
}

export function ThreadPlace({ account, id }: ThreadPlaceProps) {
  const thread = useMemo(() => new Thread(hostOf(account), id), [account, id]);
  useEffect(() => {
    const left = new AbortController();
    void thread.follow(left.signal);
    return () => left.abort();
  }, [thread]);
  useLive(account.live, THREAD);
  const { view, problem } = thread;
  return (
    <section class="thread">
      <header class="bar">
        <BackLink />
        <h1>{inOneLine(view?.title ?? account.conversations.get(id)?.title ?? '')}</h1>
        {view && <Where account={account} thread={thread} view={view} />}
        <ContextMeter thread={thread} models={account.models} />
      </header>
      {problem && (
        <p role="alert" class="fill">
          {problem.code === 'NOT_FOUND' ? words.notFound : problem.message}
        </p>
      )}
      {!problem && !view && <p class="fill hint">{words.connecting}</p>}
      {!problem && view && <Messages thread={thread} view={view} />}
      {view && <Pinned thread={thread} />}
      {view?.parent !== undefined && <OfSubagent thread={thread} parent={view.parent} />}
      {view && !view.parent && !view.privacy?.deleted && (
        <Composer account={account} thread={thread} />
      )}
    </section>
  );
}

/** In place of the composer: only the agent that started a subagent writes to it. */
function OfSubagent({ thread, parent }: { readonly thread: Thread; readonly parent: string }) {
  const { id, host } = thread;
  return (
    <p class="composer of-subagent hint">
      {words.ofSubagent} <a href={linkTo({ at: 'conversation', id: parent })}>{words.openParent}</a>
      {thread.isBusy && (
        <button
          type="button"
          class="stop"
          onClick={() => host.run(() => stopAnswers(host.client, id))}
        >
          {words.stop}
        </button>
      )}
    </p>
  );
}

/** What the page gives a thread of this account. */
function hostOf(account: PageAccount): ThreadHost {
  const { client, live, outbox, run, session } = account;
  return {
    client,
    live,
    outbox,
    run,
    seen: {
      read: (id) => readSeen(session.account, id),
      keep: (view) => keepSeen(session.account, view),
      forget: forgetSeen,
    },
    Approval: ({ item }) => <Approval item={item} account={account} />,
    Subagent: ({ subagent }) => <Subagent client={client} subagent={subagent} />,
    Background: (props) => <Background account={account} {...props} />,
    Images: ({ message }) => <SentImages client={client} message={message} />,
    ...sendingAgain(account),
    // As in the terminal: after the plan its person goes on in agent mode.
    onPlanBegun: () => chooseMode('agent'),
  };
}

/** The folder with its machine's state, and how private the conversation is. Unfolds the whole path, and the rules that counted. */
function Where({ account, thread, view }: WhereProps) {
  useLive(account.live, LIST);
  const bridge = account.bridgeOf(view.bridgeId);
  const { privacy, responses } = view;
  return (
    <>
      <Folded summary={bridge ? <State bridge={bridge} account={account} /> : words.rules}>
        {bridge && <code>{inOneLine(bridge.workspacePath)}</code>}
        <RuleList key={responses.at(-1)?.id} thread={thread} />
      </Folded>
      {privacy && <p class="hint">{words.privateUntil(privacy.deleteAfterHours)}</p>}
    </>
  );
}

interface WhereProps extends Pick<ThreadPlaceProps, 'account'> {
  readonly thread: Thread;
  readonly view: ConversationView;
}

function State({
  bridge,
  account,
}: Pick<ThreadPlaceProps, 'account'> & { readonly bridge: BridgeInfo }) {
  const state = account.stateOf(bridge);
  return (
    <span class={state === 'online' ? 'on' : 'off'}>
      {folderName(bridge.workspacePath)} · {words.machineState[state]}
    </span>
  );
}
