/** The devices that are signed in, and the ways to let in another one. */
import { useCallback, useState } from 'preact/hooks';
import { ClientError, fingerprintOf } from '../../client/index.ts';
import type { LoginView, SessionList } from '../../shared/api/sessions.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { useReading } from '../parts/use-reading.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortTime } from '../words/short.ts';
import { Invitations } from './invitations.tsx';
import { Passkeys } from './passkeys.tsx';

export function Devices({ account }: { readonly account: PageAccount }) {
  const [sessions, setSessions] = useState<SessionList['items']>([]);
  const { client } = account;
  const read = useCallback(async () => setSessions((await client.listSessions()).items), [client]);
  useReading(read);
  return (
    <>
      <h2>{words.devices}</h2>
      <ul class="rows">
        {sessions.map(({ id, name, lastUsed, current }) => (
          <li key={id}>
            <span>{inOneLine(name)}</span>
            <span class="hint">
              {current ? words.thisDevice : words.lastUsed(shortTime(lastUsed))}
            </span>
            {!current && (
              <button
                type="button"
                onClick={async () => {
                  await client.endSession(id);
                  await read();
                }}
              >
                {words.endSession}
              </button>
            )}
          </li>
        ))}
      </ul>
      <Passkeys account={account} />
      <Invitations account={account} />
      <CodeForm account={account} onDecided={read} />
    </>
  );
}

interface CodeFormProps {
  readonly account: PageAccount;
  readonly onDecided: () => Promise<void>;
}

/** Lets in a device that shows a code, after the person has compared its fingerprint. */
function CodeForm({ account: { client }, onDecided }: CodeFormProps) {
  const [code, setCode] = useState('');
  const [found, setFound] = useState<LoginView & { readonly fingerprint: string }>();
  const [problem, setProblem] = useState('');
  const tried = async (work: () => Promise<void>) => {
    setProblem('');
    try {
      await work();
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      setProblem(error.message);
    }
  };
  const lookUp = (event: SubmitEvent) => {
    event.preventDefault();
    void tried(async () => {
      const login = await client.getLogin(code.trim());
      setFound({ ...login, fingerprint: await fingerprintOf({ publicKey: login.key }) });
    });
  };
  const decide = (decision: 'approve' | 'refuse') => () =>
    tried(async () => {
      if (!found) return;
      await client.decideLogin(code.trim(), { decision, key: found.key });
      setFound(undefined);
      setCode('');
      await onDecided();
    });
  return (
    <form onSubmit={lookUp}>
      <h3>{words.approveCode}</h3>
      <input
        aria-label={words.code}
        placeholder="BCDF-GHJK"
        value={code}
        autocomplete="off"
        onInput={(event) => setCode(event.currentTarget.value)}
      />
      <button type="submit">{words.lookUp}</button>
      {found && (
        <div class="ask">
          <p>
            <b>{inOneLine(found.name)}</b> <span class="hint">{found.address}</span>
          </p>
          <p>
            {words.fingerprint} <code>{found.fingerprint}</code>
          </p>
          <p class="actions">
            <button type="button" class="main" onClick={() => void decide('approve')()}>
              {words.letIn}
            </button>
            <button type="button" onClick={() => void decide('refuse')()}>
              {words.refuse}
            </button>
          </p>
        </div>
      )}
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}
