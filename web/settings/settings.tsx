/** What belongs to the account and to this browser. */

import { useLive } from '../live.ts';
import { BackLink } from '../parts/back-link.tsx';
import { type Account, LIST } from '../store/account.ts';
import { shortTime, words } from '../words/words.ts';
import { Devices } from './devices.tsx';
import { Theme } from './theme.tsx';
import { Usage } from './usage.tsx';

interface Props {
  readonly account: Account;
  readonly leave: () => Promise<void>;
}

export function Settings({ account, leave }: Props) {
  return (
    <section class="settings">
      <header class="bar">
        <BackLink />
        <h1>{words.settings}</h1>
      </header>
      <div class="fill column">
        <Machines account={account} />
        <Devices account={account} />
        <Usage account={account} />
        <Theme />
        <h2>{words.account}</h2>
        <button
          type="button"
          onClick={async () => {
            if (!confirm(words.signOutSure)) return;
            await endOwnSession(account).catch(() => undefined); // It ends by itself without use.
            await leave();
          }}
        >
          {words.signOut}
        </button>
      </div>
    </section>
  );
}

async function endOwnSession({ client }: Account): Promise<void> {
  const { items } = await client.listSessions();
  const own = items.find(({ current }) => current);
  if (own) await client.endSession(own.id);
}

function Machines({ account }: { readonly account: Account }) {
  useLive(account.live, LIST);
  return (
    <>
      <h2>{words.machines}</h2>
      {account.bridges.length === 0 && (
        <p class="hint">
          {words.noMachines} <code>drawbridge</code>
        </p>
      )}
      <ul class="rows">
        {account.bridges.map(({ id, workspacePath, connected, lastConnected }) => (
          <li key={id}>
            <code>{workspacePath}</code>
            <span class={connected ? 'on' : 'off'}>
              {connected ? words.online : words.lastUsed(shortTime(lastConnected))}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
