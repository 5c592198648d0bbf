/** The passkeys that sign this person in, at any browser. */
import { useCallback, useState } from 'preact/hooks';
import type { PasskeyList } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { useReading } from '../parts/use-reading.ts';
import { browserName } from '../session/browser-name.ts';
import { hasPasskeys, makePasskey } from '../session/passkey.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortTime } from '../words/short.ts';

export function Passkeys({ account: { client, session } }: { readonly account: PageAccount }) {
  const [passkeys, setPasskeys] = useState<PasskeyList['items']>([]);
  const read = useCallback(async () => setPasskeys((await client.listPasskeys()).items), [client]);
  useReading(read);
  const add = async () => {
    const known = passkeys.map(({ credentialId }) => credentialId);
    const made = await makePasskey(session.account, session.account, known);
    await client.addPasskey({ ...made, name: browserName() });
    await read();
  };
  return (
    <>
      <h3>{words.passkeys}</h3>
      <ul class="rows">
        {passkeys.map(({ credentialId, name, lastUsed, created }) => (
          <li key={credentialId}>
            <span>{inOneLine(name)}</span>
            <span class="hint">
              {lastUsed ? words.lastUsed(shortTime(lastUsed)) : words.made(shortTime(created))}
            </span>
            <button
              type="button"
              onClick={async () => {
                await client.removePasskey(credentialId);
                await read();
              }}
            >
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      {hasPasskeys() ? (
        <>
          <p class="hint">{words.passkeysLead}</p>
          <button type="button" onClick={add}>
            {words.addPasskey}
          </button>
        </>
      ) : (
        <p class="hint">{words.noPasskeys}</p>
      )}
    </>
  );
}
