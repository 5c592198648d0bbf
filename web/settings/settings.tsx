/** What belongs to the account and to this browser. */

import { BackLink } from '../parts/back-link.tsx';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { Approving } from './approving.tsx';
import { Devices } from './devices.tsx';
import { Machines } from './machines.tsx';
import { Models } from './models.tsx';
import { Privacy } from './privacy.tsx';
import { Push } from './push.tsx';
import { Records } from './records.tsx';
import { Theme } from './theme.tsx';
import { Usage } from './usage.tsx';

interface SettingsProps {
  readonly account: PageAccount;
  readonly leave: (account: PageAccount) => Promise<void>;
}

export function Settings({ account, leave }: SettingsProps) {
  return (
    <section class="settings">
      <header class="bar">
        <BackLink />
        <h1>{words.settings}</h1>
      </header>
      <div class="fill column">
        <Machines account={account} />
        <Models account={account} />
        <Devices account={account} />
        <Approving account={account} />
        <Push account={account} />
        <Privacy account={account} />
        <Usage account={account} />
        <Records account={account} />
        <Theme />
        <h2>{words.account}</h2>
        <p class="hint">{account.session.account}</p>
        <button
          type="button"
          onClick={async () => {
            if (!confirm(words.signOutSure)) return;
            const isEnded = await endOwnSession(account).then(
              () => true,
              () => false,
            );
            if (isEnded || confirm(words.signOutAnyway)) await leave(account);
          }}
        >
          {words.signOut}
        </button>
      </div>
    </section>
  );
}

async function endOwnSession({ client, session }: PageAccount): Promise<void> {
  await client.endSession(session.session);
}
