/** What somebody sees who has no session in this browser. */
import { useEffect, useState } from 'preact/hooks';
import { ClientError, type KeptSession } from '../../client/index.ts';
import { words } from '../words/settings.ts';
import { hasPasskeys, PasskeyRefusal } from './passkey.ts';
import { SERVER } from './session.ts';
import { enterByPasskey, joinWith, type ShownCode, secretIn, showCode } from './ways-in.ts';

interface SignInProps {
  /** Why the session before is over, or the link did not work. */
  readonly why: string | undefined;
  /** The secret of the link that the person has followed. */
  readonly join?: string | undefined;
  readonly onEntered: (session: KeptSession) => void;
}

export function SignIn({ why, join, onEntered }: SignInProps) {
  return (
    <main class="sign-in">
      <h1>Drawbridge</h1>
      {join === undefined ? (
        <p>{words.signInLead}</p>
      ) : (
        <FromLink secret={join} onEntered={onEntered} />
      )}
      {why !== undefined && <p role="alert">{why}</p>}
      {hasPasskeys() && <ByPasskey onEntered={onEntered} />}
      <h2>{words.signInHere}</h2>
      <pre>drawbridge open</pre>
      <h2>{words.signInLink}</h2>
      <ByLink onEntered={onEntered} />
      <h2>{words.signInCode}</h2>
      <ByCode onEntered={onEntered} />
    </main>
  );
}

/** A stranger's link would lead into the stranger's account, which then has what the person writes. */
function FromLink({
  secret,
  onEntered,
}: Pick<SignInProps, 'onEntered'> & { readonly secret: string }) {
  const [problem, setProblem] = useState('');
  const enter = () => joinWith(secret).then(onEntered, (error) => setProblem(problemOf(error)));
  return (
    <div class="ask">
      <p>{words.linkQuestion(location.host)}</p>
      <button type="button" class="main" onClick={enter}>
        {words.signIn}
      </button>
      {problem && <p role="alert">{problem}</p>}
    </div>
  );
}

function ByPasskey({ onEntered }: Pick<SignInProps, 'onEntered'>) {
  const [problem, setProblem] = useState('');
  const enter = async () => {
    setProblem('');
    try {
      onEntered(await enterByPasskey());
    } catch (error) {
      setProblem(error instanceof PasskeyRefusal ? error.message : problemOf(error));
    }
  };
  return (
    <div>
      <button type="button" class="main" onClick={enter}>
        {words.signInPasskey}
      </button>
      {problem && <p role="alert">{problem}</p>}
    </div>
  );
}

function ByLink({ onEntered }: Pick<SignInProps, 'onEntered'>) {
  const [problem, setProblem] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const secret = secretIn(String(form.get('link')));
    if (secret === undefined) return setProblem(words.linkWrong);
    setProblem('');
    try {
      onEntered(await joinWith(secret));
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <form onSubmit={submit}>
      <input name="link" aria-label={words.linkLabel} autocomplete="off" spellcheck={false} />
      <button type="submit">{words.signIn}</button>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}

function ByCode({ onEntered }: Pick<SignInProps, 'onEntered'>) {
  const [asking, setAsking] = useState<AbortController>();
  const [shown, setShown] = useState<ShownCode>();
  const [problem, setProblem] = useState('');
  useEffect(() => () => asking?.abort(), [asking]);
  const ask = async () => {
    const attempt = new AbortController();
    setAsking(attempt);
    setProblem('');
    try {
      const code = await showCode(attempt.signal);
      setShown(code);
      onEntered(await code.entered);
    } catch (error) {
      if (attempt.signal.aborted) return;
      setShown(undefined);
      setProblem(problemOf(error));
    }
  };
  if (!shown) {
    return (
      <div>
        <button type="button" onClick={ask}>
          {words.showCode}
        </button>
        {problem && <p role="alert">{problem}</p>}
      </div>
    );
  }
  return (
    <div role="status">
      <p>{words.codeLead}</p>
      <p class="code">{shown.code}</p>
      <p>
        {words.fingerprint} <code>{shown.fingerprint}</code>
      </p>
      <pre>{`drawbridge sessions approve ${shown.code} --url ${SERVER.url}`}</pre>
    </div>
  );
}

function problemOf(error: unknown): string {
  if (!(error instanceof ClientError)) throw error;
  if (error.code === 'ENTRY_ENDED') return words.linkUsed;
  return error.code === 'LOGIN_REFUSED' ? words.codeRefused : error.message;
}
