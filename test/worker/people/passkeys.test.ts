import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import {
  approveByPasskey,
  beginLogin,
  enter,
  loginText,
  newSessionKey,
} from '../../../client/index.ts';
import { PASSKEY_LIMITS, SESSION_LIMITS } from '../../../shared/limits.ts';
import { directoryOf } from '../../../worker/objects.ts';
import { entryHash } from '../../../worker/people/entry-secrets.ts';
import { newPasskey } from '../../far-ends/passkey.ts';
import { remove, runAlarms, setState } from './accounts.ts';
import { clientOf, clientWith, expectRefused, newAccount, SERVER, signIn } from './people.ts';

const HOLDER = { name: 'Firefox on Linux', kind: 'browser' } as const;

type Passkey = Awaited<ReturnType<typeof newPasskey>>;

function asAdded({ key: { publicKey }, credentialId }: Passkey, name = 'Ana’s phone') {
  return { credentialId, origin: 'https://drawbridge.example.com', name, publicKey };
}

async function addedPasskey(account: string): Promise<Passkey> {
  const passkey = await newPasskey();
  await (await clientOf(account)).addPasskey(asAdded(passkey));
  return passkey;
}

/** A login that waits, and how a passkey approves it. */
async function newLogin() {
  const signer = await newSessionKey();
  const { secret, code } = await beginLogin(SERVER, HOLDER, signer);
  const approve = async ({ credentialId, assert }: Passkey, signedSecret = secret) => {
    const signature = await assert(loginText(signedSecret));
    await approveByPasskey(SERVER, { secret, credentialId, signature });
  };
  return { signer, secret, code, approve, enter: () => enter(SERVER, secret, HOLDER, signer) };
}

describe('a passkey', () => {
  it('lets a browser in that has nothing else, into its own account', async () => {
    const account = newAccount();
    const passkey = await addedPasskey(account);
    const login = await newLogin();
    await expectRefused(login.enter(), 'LOGIN_PENDING');
    await login.approve(passkey);
    const made = await login.enter();
    expect(made.account).toBe(account);
    const client = clientWith({ ...made, signer: login.signer });
    const { items } = await client.listPasskeys();
    const { credentialId } = passkey;
    const lastUsed = expect.any(String);
    expect(items).toMatchObject([{ credentialId, name: 'Ana’s phone', lastUsed }]);
    const acts = (await client.listRecords()).items.map(({ action }) => action);
    expect(acts).toEqual(['signed_in', 'passkey_used', 'passkey_added']);
  });

  it('approves the same login again, but none of another browser', async () => {
    const passkey = await addedPasskey(newAccount());
    const [login, other] = [await newLogin(), await newLogin()];
    await login.approve(passkey);
    await login.approve(passkey);
    await expectRefused(other.approve(passkey, login.secret), 'PASSKEY_REFUSED');
    await expectRefused(other.enter(), 'LOGIN_PENDING');
  });

  it('lets nobody in by what was recorded of another login', async () => {
    const passkey = await addedPasskey(newAccount());
    const login = await newLogin();
    await login.approve(passkey);
    const thief = await newSessionKey();
    const ended = { code: 'ENTRY_ENDED' };
    await expect(enter(SERVER, login.secret, HOLDER, thief)).rejects.toMatchObject(ended);
    await login.enter();
    await expect(enter(SERVER, login.secret, HOLDER, thief)).rejects.toMatchObject(ended);
    await expect(login.approve(passkey)).rejects.toMatchObject(ended);
  });

  it('approves as the account alone whose signature was checked', async () => {
    const account = newAccount();
    const { credentialId: id } = await addedPasskey(account);
    const secret = await entryHash((await newLogin()).secret);
    const approve = (account: string) => directoryOf(env).approveByPasskey(secret, { id, account });
    expect(await approve(newAccount())).toMatchObject({ ok: false, code: 'PASSKEY_REFUSED' });
    expect(await approve(account)).toMatchObject({ ok: true });
  });

  it('approves no invitation', async () => {
    const account = newAccount();
    const { credentialId, assert } = await addedPasskey(account);
    const { secret } = await (await clientOf(newAccount())).createInvitation();
    const signature = await assert(loginText(secret));
    await expectRefused(
      approveByPasskey(SERVER, { secret, credentialId, signature }),
      'ENTRY_ENDED',
    );
  });

  it('does not take over a login that another person has approved, or refused', async () => {
    const passkey = await addedPasskey(newAccount());
    const [approved, refused] = [await newLogin(), await newLogin()];
    await approved.approve(await addedPasskey(newAccount()));
    await expectRefused(approved.approve(passkey), 'ENTRY_ENDED');
    const client = await clientOf(newAccount());
    const { key } = await client.getLogin(refused.code);
    await client.decideLogin(refused.code, { decision: 'refuse', key });
    await expectRefused(refused.approve(passkey), 'ENTRY_ENDED');
    await expectRefused(refused.enter(), 'LOGIN_REFUSED');
  });

  it('lets nobody in after it was removed', async () => {
    const account = newAccount();
    const client = await clientOf(account);
    const passkey = await addedPasskey(account);
    await client.removePasskey(passkey.credentialId);
    await client.removePasskey(passkey.credentialId);
    expect(await client.listPasskeys()).toEqual({ items: [] });
    await expect((await newLogin()).approve(passkey)).rejects.toMatchObject({
      code: 'PASSKEY_REFUSED',
      status: 403,
    });
  });

  it('of another account is neither listed nor removed, and its id is taken', async () => {
    const passkey = await addedPasskey(newAccount());
    const stranger = await clientOf(newAccount());
    expect(await stranger.listPasskeys()).toEqual({ items: [] });
    await stranger.removePasskey(passkey.credentialId);
    await expectRefused(stranger.addPasskey(asAdded(passkey)), 'INVALID_REQUEST');
    await (await newLogin()).approve(passkey);
  });

  it('does not approve a login that has expired', async () => {
    const passkey = await addedPasskey(newAccount());
    const login = await newLogin();
    vi.setSystemTime(Date.now() + SESSION_LIMITS.loginMs + 1);
    try {
      await expectRefused(login.approve(passkey), 'ENTRY_ENDED');
    } finally {
      vi.useRealTimers();
    }
  });

  it('stays when the session that added it ends, and ends with its account', async () => {
    const kept = await signIn(newAccount());
    const passkey = await newPasskey();
    await clientWith(kept).addPasskey(asAdded(passkey));
    await clientWith(kept).endSession(kept.session);
    const login = await newLogin();
    await login.approve(passkey);
    expect((await login.enter()).account).toBe(kept.account);
    await setState(kept.account, 'suspended');
    const second = await newLogin();
    await second.approve(passkey);
    await expectRefused(second.enter(), 'ACCOUNT_SUSPENDED');
    await remove(kept.account);
    await runAlarms(kept.account);
    await expectRefused((await newLogin()).approve(passkey), 'PASSKEY_REFUSED');
  });

  it('is one of a bounded number', async () => {
    const client = await clientOf(newAccount());
    const made = await newPasskey();
    for (let number = 0; number < PASSKEY_LIMITS.maxPasskeys; number++) {
      await client.addPasskey({ ...asAdded(made), credentialId: `AA${number + 10}` });
    }
    await expectRefused(client.addPasskey(asAdded(made)), 'INVALID_REQUEST');
  });

  it.each([
    { credentialId: 'not base64url!' },
    { credentialId: '' },
    { origin: 'drawbridge' },
    { origin: 'https://drawbridge.example.com/' },
    { origin: 'https://drawbridge.example.com/\u202epage' },
    { origin: 'javascript:alert(1)' },
    { origin: `https://${'a'.repeat(260)}` },
    { origin: ['https://drawbridge.example.com'] },
    { credentialId: 'A'.repeat(PASSKEY_LIMITS.maxIdChars + 4) },
    { credentialId: null },
    { name: 'a\u202eb' },
    { publicKey: { kty: 'EC', crv: 'P-384', x: '', y: '' } },
  ])('is not added with %j', async (wrong) => {
    const added = { ...asAdded(await newPasskey()), ...wrong } as ReturnType<typeof asAdded>;
    await expectRefused((await clientOf(newAccount())).addPasskey(added), 'INVALID_REQUEST');
  });
});
