/** The whole page: signing in, or the frame with the list on one side and a place on the other. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ClientError, type KeptSession, type PageClient } from '../client/index.ts';
import { Composer } from './composer/composer.tsx';
import { List } from './conversations/list.tsx';
import { Inbox } from './inbox/inbox.tsx';
import { arrive, later } from './later.tsx';
import { useLive } from './live.ts';
import type { Palette } from './palette/palette.tsx';
import { BackLink } from './parts/back-link.tsx';
import { Refusals } from './parts/refusals.tsx';
import { linkTo, type PagePlace, reloadForSecrets, takeSecrets, usePlace } from './route.ts';
import { forgetAll, readKept } from './session/kept.ts';
import { chosenKinds, endPush, isAny } from './session/push-choice.ts';
import { clientOf } from './session/session.ts';
import { INBOX, LINK, LIST, PageAccount } from './store/account.ts';
import { readApprovers } from './store/approvers.ts';
import { forgetAllSeen } from './store/seen.ts';
import { ThreadPlace } from './thread/place.tsx';
import { words } from './words/words.ts';

const SignIn = later(async () => (await import('./session/sign-in.tsx')).SignIn);
const PasskeyOffer = later(async () => (await import('./settings/passkey-offer.tsx')).PasskeyOffer);
const Settings = later(async () => (await import('./settings/settings.tsx')).Settings);

type AppState =
  | { readonly is: 'opening' }
  | { readonly is: 'out'; readonly why: string | undefined; readonly join?: string | undefined }
  | { readonly is: 'in'; readonly account: PageAccount; readonly refusal: string };

/** Whether the page comes from this machine. */
function isOwnMachine(): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
}

function messageOf(error: unknown): string {
  if (error instanceof ClientError) return error.message;
  throw error;
}

async function enrolWith(client: PageClient, secret: string, account: string): Promise<void> {
  const { enrolHere } = await arrive(import('./session/enrol.ts'));
  await enrolHere(client, secret, 'device', account);
}

async function joinWith(secret: string): Promise<KeptSession> {
  return await (await arrive(import('./session/ways-in.ts'))).joinWith(secret);
}

export function App() {
  const [linked] = useState(takeSecrets);
  const link = useRef(linked);
  const [state, setState] = useState<AppState>({ is: 'opening' });
  const enter = useCallback(async (session: KeptSession) => {
    const client = clientOf(session);
    const { enrol } = link.current;
    const enrolling = enrol && enrolWith(client, enrol, session.account);
    const refusal = enrolling && (await enrolling.then(() => '', messageOf));
    const account = new PageAccount(client, session, await readApprovers());
    setState({ is: 'in', account, refusal: refusal ?? '' });
  }, []);
  /** With the session that is kept, or else with the secret of the link. */
  const open = useCallback(
    async (why?: string) => {
      try {
        const { join } = link.current;
        const kept = await readKept('session');
        // A stranger has no account at a server of this machine, and can have one at any other.
        const session = kept ?? (join && isOwnMachine() && (await joinWith(join)));
        if (session) await enter(session);
        else setState({ is: 'out', why, join });
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        const isUsed = error.code === 'ENTRY_ENDED';
        setState({ is: 'out', why: isUsed ? (why ?? words.linkUsed) : error.message });
      }
    },
    [enter],
  );
  const leave = useCallback(
    async ({ session, outbox, wasLive }: PageAccount, why?: string) => {
      outbox.end();
      // The frame goes first: what it follows could keep something anew.
      setState({ is: 'opening' });
      // A session that this page used stays ended. Only one that had ended before gives way to the link's.
      if (wasLive || why === undefined) link.current = {};
      const kept = await readKept('session');
      // Another tab may have let somebody else in meanwhile, whose things these are.
      if (kept !== undefined && kept.session !== session.session) return await open();
      await forgetEverything();
      await open(why);
    },
    [open],
  );
  useEffect(() => void open(), [open]);
  useEffect(reloadForSecrets, []);
  if (state.is === 'opening') return null;
  if (state.is === 'out') return <SignIn {...state} onEntered={(session) => void enter(session)} />;
  return <Frame {...state} passkey={link.current.passkey} leave={leave} />;
}

/** And lets the other tabs of this browser look what is left. */
async function forgetEverything(): Promise<void> {
  const ended = endPush().catch(() => undefined); // The server does not use it any more.
  await Promise.all([ended, forgetAll(), forgetAllSeen()]);
  new BroadcastChannel(SIGNED_OUT).postMessage(SIGNED_OUT);
}

const SIGNED_OUT = 'drawbridge-signed-out';

interface FrameProps {
  readonly account: PageAccount;
  readonly leave: (account: PageAccount, why?: string) => Promise<void>;
}

interface FirstProps extends FrameProps {
  readonly refusal: string;
  /** The secret of a link that lets this browser approve by a passkey. */
  readonly passkey: string | undefined;
}

/** The server says so for good. */
const OVER: ReadonlySet<string> = new Set(['SESSION_ENDED', 'ACCOUNT_DELETED', 'UNAUTHENTICATED']);

function Frame({ account, refusal, passkey, leave }: FirstProps) {
  const place = usePlace();
  useEffect(() => {
    const over = new AbortController();
    account.follow(over.signal).catch((error: unknown) => {
      if (over.signal.aborted) return;
      if (error instanceof ClientError && OVER.has(error.code)) void leave(account, words.ended);
      else throw error;
    });
    return () => over.abort();
  }, [account, leave]);
  useLayoutEffect(() => {
    const channel = new BroadcastChannel(SIGNED_OUT);
    channel.onmessage = () => location.reload();
    return () => channel.close();
  }, []);
  useEffect(() => {
    if (isAny(chosenKinds())) keepPush(account.client).catch(() => undefined); // The next start tries again.
  }, [account]);
  // On a phone the list is all that is there.
  const isList = place.at === 'list';
  return (
    <div class={`frame at-${place.at}`}>
      <LinkState account={account} />
      <PaletteKey account={account} place={place} />
      <div class="side" role={isList ? 'main' : 'navigation'}>
        <h1 class="hidden">Drawbridge</h1>
        <Top account={account} place={place} />
        <List account={account} place={place} />
      </div>
      <div class="place" role={isList ? undefined : 'main'}>
        <Refusals first={refusal} />
        {passkey && <PasskeyOffer account={account} secret={passkey} />}
        <PlaceOf account={account} place={place} leave={leave} />
      </div>
    </div>
  );
}

async function keepPush(client: PageClient): Promise<void> {
  await (await import('./session/push.ts')).keepPush(client);
}

function PlaceOf({ account, place, leave }: FrameProps & { readonly place: PagePlace }) {
  switch (place.at) {
    case 'conversation':
      return <ThreadPlace key={place.id} account={account} id={place.id} />;
    case 'inbox':
      return <Inbox account={account} />;
    case 'settings':
      return <Settings account={account} leave={leave} />;
    case 'list':
    case 'new':
      return <NewConversation account={account} />;
  }
}

/** Opens the palette for Ctrl+K or Cmd+K. Loaded when it is first opened. */
function PaletteKey(props: { readonly account: PageAccount; readonly place: PagePlace }) {
  const [Loaded, setLoaded] = useState<typeof Palette>();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const left = new AbortController();
    const open = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (key !== 'k' || ctrlKey === metaKey || altKey || shiftKey) return;
      event.preventDefault();
      setOpen(true);
      import('./palette/palette.tsx').then(
        (loaded) => setLoaded(() => loaded.Palette),
        () => setOpen(false), // Without a network: the frame says so.
      );
    };
    addEventListener('keydown', open, left);
    return () => left.abort();
  }, []);
  return Loaded && isOpen ? <Loaded {...props} close={() => setOpen(false)} /> : null;
}

function NewConversation({ account }: { readonly account: PageAccount }) {
  useLive(account.live, LIST);
  return (
    <section class="new">
      <header class="bar">
        <BackLink />
        <h1>{words.newConversation}</h1>
      </header>
      <div class="fill">
        {account.bridges.length === 0 &&
          (account.link === 'live' ? (
            <p class="hint">
              {words.noMachines} <code>drawbridge</code>
            </p>
          ) : (
            <p class="hint">{words.connecting}</p>
          ))}
      </div>
      <Composer account={account} />
    </section>
  );
}

function Top({ account, place }: { readonly account: PageAccount; readonly place: PagePlace }) {
  useLive(account.live, INBOX);
  const count = account.waitingCount;
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Drawbridge` : 'Drawbridge';
    // Only the page of a home screen has one; the service worker sets it while the page is closed.
    navigator.setAppBadge?.(count).catch(() => undefined);
  }, [count]);
  const link = (to: PagePlace, text: string, badge = 0) => (
    <a href={linkTo(to)} aria-current={place.at === to.at ? 'page' : undefined}>
      {text}
      {badge > 0 && <b class="badge">{badge}</b>}
    </a>
  );
  return (
    <div class="top">
      {link({ at: 'new' }, words.newConversation)}
      {link({ at: 'inbox' }, words.inbox, count)}
      {link({ at: 'settings' }, words.settings)}
    </div>
  );
}

function LinkState({ account }: { readonly account: PageAccount }) {
  useLive(account.live, LINK);
  useLive(account.live, LIST);
  const folder = account.takenOver;
  const other = folder === undefined ? '' : words.replaced(folder);
  const text = navigator.onLine ? (account.link === 'lost' ? words.lost : other) : words.offline;
  return (
    <p class="link-state" role="status">
      {text}
    </p>
  );
}
