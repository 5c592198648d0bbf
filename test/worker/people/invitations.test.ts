import { SELF } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { enter, newSessionKey } from '../../../client/index.ts';
import type { InvitationList } from '../../../shared/api/sessions.ts';
import { SESSION_LIMITS } from '../../../shared/limits.ts';
import { errorOf, tokenFor } from '../api.ts';
import { clientOf, clientWith, expectRefused, newAccount, SERVER, signIn } from './people.ts';

const HOLDER = { name: 'ana-laptop', kind: 'machine' } as const;

async function operate(path: string, method = 'GET'): Promise<Response> {
  const token = await tokenFor({ account: 'operator', claims: { scope: 'operator' } });
  return await SELF.fetch(`${SERVER.url}/api/v1/operator/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
}

it('an invitation is listed without its secret until a device uses it', async () => {
  const account = newAccount();
  const kept = await signIn(account);
  const client = clientWith(kept);
  expect(await client.listInvitations()).toEqual({ items: [] });
  const { id, secret, expires } = await client.createInvitation();
  const { items } = await client.listInvitations();
  expect(items).toEqual([{ id, account, by: kept.session, created: expect.any(String), expires }]);
  expect(JSON.stringify(items)).not.toContain(secret);
  await enter(SERVER, secret, HOLDER, await newSessionKey());
  expect(await client.listInvitations()).toEqual({ items: [] });
});

it('an invitation that has expired is not listed', async () => {
  const client = clientWith(await signIn(newAccount()));
  await client.createInvitation();
  vi.setSystemTime(Date.now() + SESSION_LIMITS.invitationMs + 1);
  try {
    expect(await client.listInvitations()).toEqual({ items: [] });
  } finally {
    vi.useRealTimers();
  }
});

it('a revoked invitation lets nobody in, and revoking it again changes nothing', async () => {
  const client = await clientOf(newAccount());
  const { id, secret } = await client.createInvitation();
  await client.revokeInvitation(id);
  await client.revokeInvitation(id);
  await expectRefused(enter(SERVER, secret, HOLDER, await newSessionKey()), 'ENTRY_ENDED');
});

it('revoking a used invitation leaves its session', async () => {
  const client = await clientOf(newAccount());
  const { id, secret } = await client.createInvitation();
  const signer = await newSessionKey();
  const made = await enter(SERVER, secret, HOLDER, signer);
  await client.revokeInvitation(id);
  expect(await enter(SERVER, secret, HOLDER, signer)).toEqual(made);
});

it('nobody lists or revokes the invitations of another account', async () => {
  const [ana, ben] = [await clientOf(newAccount()), await clientOf(newAccount())];
  const { id } = await ana.createInvitation();
  expect(await ben.listInvitations()).toEqual({ items: [] });
  await ben.revokeInvitation(id);
  expect((await ana.listInvitations()).items).toHaveLength(1);
});

it('the operator lists and revokes those of all accounts', async () => {
  const [ana, ben] = [await clientOf(newAccount()), await clientOf(newAccount())];
  const made = [await ana.createInvitation(), await ben.createInvitation()];
  const listed = async () => {
    const { items } = await (await operate('invitations')).json<InvitationList>();
    return items.map(({ id }) => id).filter((id) => made.some((each) => each.id === id));
  };
  expect(await listed()).toEqual(made.map(({ id }) => id));
  const [first] = made;
  expect((await operate(`invitations/${first?.id}`, 'DELETE')).status).toBe(204);
  expect(await listed()).toEqual([made[1]?.id]);
  expect(await ana.listInvitations()).toEqual({ items: [] });
});

it.each(['invitations', 'invitations/inv_0000000000000000'])(
  'a person does not reach operator/%s',
  async (path) => {
    const authorization = `Bearer ${await tokenFor({ account: newAccount() })}`;
    const method = path.includes('/') ? 'DELETE' : 'GET';
    const address = `${SERVER.url}/api/v1/operator/${path}`;
    expect(
      await errorOf(await SELF.fetch(address, { method, headers: { authorization } })),
    ).toMatchObject({
      code: 'FORBIDDEN',
    });
  },
);

it.each(['x', 'inv_', `inv_${'x'.repeat(17)}`, 'inv_%2e%2e%2fxxxxxxxxxxxxx', '%00'])(
  'the id %s is of no invitation',
  async (id) => {
    expect((await operate(`invitations/${id}`, 'DELETE')).status).toBe(404);
  },
);
