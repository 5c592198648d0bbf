/** Asks the person before this browser makes the passkey that a machine's link is for. */
import { useState } from 'preact/hooks';
import { enrolHere } from '../session/enrol.ts';
import { hasPasskeys } from '../session/passkey.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';

interface PasskeyOfferProps {
  readonly account: PageAccount;
  /** What the link brought. */
  readonly secret: string;
}

export function PasskeyOffer({ account, secret }: PasskeyOfferProps) {
  const [state, setState] = useState<'asking' | 'made' | 'over'>('asking');
  const make = async () => {
    const { client, session } = account;
    const made = await enrolHere(client, secret, 'passkey', session.account);
    if (made) account.approveBy({ passkey: made });
    setState(made ? 'made' : 'over');
  };
  if (state === 'over') return null;
  if (state === 'made') return <p role="status">{words.passkeyApproves}</p>;
  if (!hasPasskeys()) return <p role="alert">{words.noPasskeys}</p>;
  return (
    <div class="ask">
      <p>{words.passkeyOffer}</p>
      <p class="actions">
        <button type="button" class="main" onClick={make}>
          {words.makePasskey}
        </button>
        <button type="button" onClick={() => setState('over')}>
          {words.notNow}
        </button>
      </p>
    </div>
  );
}
