/** The ways in that wait for a device. */
import { useCallback, useState } from 'preact/hooks';
import type { InvitationList } from '../../shared/api/sessions.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { QrCode } from '../parts/qr.tsx';
import { useReading } from '../parts/use-reading.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { shortTime } from '../words/short.ts';

/** An address that only this machine reaches. */
const LOOPBACK = /^https?:\/\/(?:localhost|127\.|\[::1\])/;

export function Invitations({ account: { client } }: { readonly account: PageAccount }) {
  const [pending, setPending] = useState<InvitationList['items']>([]);
  const [link, setLink] = useState('');
  const read = useCallback(
    async () => setPending((await client.listInvitations()).items),
    [client],
  );
  useReading(read);
  const invite = async () => {
    setLink((await client.createInvitation()).link);
    await read();
  };
  const revoke = async (id: string) => {
    await client.revokeInvitation(id);
    setLink('');
    await read();
  };
  return (
    <>
      <ul class="rows">
        {pending.map(({ id, expires }) => (
          <li key={id}>
            <span>{words.invitation}</span>
            <span class="hint">{words.until(shortTime(expires))}</span>
            <button type="button" onClick={() => void revoke(id)}>
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => void invite()}>
        {words.invite}
      </button>
      {link && (
        <div class="ask">
          <p>{words.inviteLead}</p>
          {LOOPBACK.test(link) && <p role="alert">{words.inviteLocal}</p>}
          <QrCode text={link} label={words.invite} />
          <p>
            <code>{link}</code> <CopyButton text={() => link} />
          </p>
        </div>
      )}
    </>
  );
}
