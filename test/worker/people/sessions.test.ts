import { SELF } from 'cloudflare:test';
import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import {
  beginLogin,
  createClient,
  enter,
  newSessionKey,
  sessionTokens,
} from '../../../client/index.ts';
import { SESSION_LIMITS } from '../../../shared/limits.ts';
import { errorOf, scriptModel, tokenFor } from '../api.ts';
import { clientOf, clientWith, expectRefused, newAccount, SERVER, signIn } from './people.ts';

const HOLDER = { name: 'ana-laptop', kind: 'machine' } as const;

describe('an invitation', () => {
  it('makes a session in the account of who made it, which gets tokens of ten minutes', async () => {
    const account = newAccount();
    const kept = await signIn(account, { name: 'Anas Laptop' });
    expect(kept.account).toBe(account);
    const token = await sessionTokens(SERVER, kept)(undefined, undefined);
    const { sub, sid, scope, exp = 0, iat = 0 } = decodeJwt<{ sid: string; scope: string }>(token);
    expect({ sub, sid, scope }).toEqual({ sub: account, sid: kept.session, scope: 'user' });
    expect(exp - iat).toBe(600);
    const { items } = await clientWith(kept).listSessions();
    expect(items).toMatchObject([{ id: kept.session, name: 'Anas Laptop', current: true }]);
  });

  it('gives the same key the same session again, and no other key one', async () => {
    const { secret } = await (await clientOf(newAccount())).createInvitation();
    const signer = await newSessionKey();
    const first = await enter(SERVER, secret, HOLDER, signer);
    expect(await enter(SERVER, secret, HOLDER, signer)).toEqual(first);
    await expectRefused(enter(SERVER, secret, HOLDER, await newSessionKey()), 'ENTRY_ENDED');
  });

  it('ends after two days', async () => {
    const { secret } = await (await clientOf(newAccount())).createInvitation();
    vi.setSystemTime(Date.now() + SESSION_LIMITS.invitationMs + 1);
    try {
      await expectRefused(enter(SERVER, secret, HOLDER, await newSessionKey()), 'ENTRY_ENDED');
    } finally {
      vi.useRealTimers();
    }
  });

  it('of a session that was ended does not bring it back', async () => {
    const account = newAccount();
    const client = await clientOf(account);
    const { secret } = await client.createInvitation();
    const signer = await newSessionKey();
    const made = await enter(SERVER, secret, HOLDER, signer);
    await client.endSession(made.session);
    await enter(SERVER, secret, HOLDER, signer);
    expect(await client.listSessions()).toEqual({ items: [] });
    await expect(
      sessionTokens(SERVER, { ...made, signer })(undefined, undefined),
    ).rejects.toMatchObject({ code: 'SESSION_ENDED', status: 401 });
  });

  it.each(['x', `dbi_${'x'.repeat(42)}`, `dbx_${'x'.repeat(43)}`, `dbi_${'x'.repeat(43)}`])(
    'with the secret %s is refused',
    async (secret) => {
      await expect(enter(SERVER, secret, HOLDER, await newSessionKey())).rejects.toMatchObject({
        code: expect.stringMatching(/^(INVALID_REQUEST|ENTRY_ENDED)$/),
      });
    },
  );

  it.each([
    '',
    ' ',
    'a\nb',
    'a\u202eb',
    'a\u200bb',
    '\u3164',
    'a\ufe0fb',
    `a${'\u0301'.repeat(9)}`,
    'x'.repeat(256),
  ])('lets no device in that calls itself %j', async (name) => {
    const { secret } = await (await clientOf(newAccount())).createInvitation();
    const entered = enter(SERVER, secret, { ...HOLDER, name }, await newSessionKey());
    await expectRefused(entered, 'INVALID_REQUEST');
  });

  it('cannot be made by the user of an app, a bridge or an operator', async () => {
    for (const scope of ['bridge', 'operator']) {
      const claims = {
        scope,
        bridge: scope === 'bridge' ? `bridge_${crypto.randomUUID()}` : undefined,
      };
      const token = await tokenFor({ claims });
      const refused = createClient({ ...SERVER, token }).createInvitation();
      await expectRefused(refused, 'FORBIDDEN');
    }
  });
});

describe('a login', () => {
  it('waits until a person who saw its key lets it in', async () => {
    const account = newAccount();
    const person = await clientOf(account);
    const signer = await newSessionKey();
    const { secret, code } = await beginLogin(SERVER, HOLDER, signer);
    expect(code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    const attempt = () => enter(SERVER, secret, HOLDER, signer);
    await expect(attempt()).rejects.toMatchObject({ code: 'LOGIN_PENDING', status: 409 });
    const seen = await person.getLogin(code.toLowerCase().replace('-', ''));
    expect(seen).toMatchObject({ name: 'ana-laptop', kind: 'machine', key: signer.publicKey });
    await person.decideLogin(code, { decision: 'approve', key: seen.key });
    expect(await attempt()).toMatchObject({ account });
    await expectRefused(person.getLogin(code), 'NOT_FOUND');
    await expectRefused(
      person.decideLogin(code, { decision: 'approve', key: seen.key }),
      'NOT_FOUND',
    );
  });

  it('is refused for good by a person', async () => {
    const person = await clientOf(newAccount());
    const signer = await newSessionKey();
    const { secret, code } = await beginLogin(SERVER, HOLDER, signer);
    await person.decideLogin(code, { decision: 'refuse', key: signer.publicKey });
    await expectRefused(enter(SERVER, secret, HOLDER, signer), 'LOGIN_REFUSED');
  });

  it('is not approved for another key than the one that the person saw', async () => {
    const person = await clientOf(newAccount());
    const { code } = await beginLogin(SERVER, HOLDER, await newSessionKey());
    const { publicKey: key } = await newSessionKey();
    await expectRefused(person.decideLogin(code, { decision: 'approve', key }), 'KEY_CHANGED');
  });

  it('gives nothing to whoever has its secret without its key', async () => {
    const person = await clientOf(newAccount());
    const signer = await newSessionKey();
    const { secret, code } = await beginLogin(SERVER, HOLDER, signer);
    await person.decideLogin(code, { decision: 'approve', key: signer.publicKey });
    await expectRefused(enter(SERVER, secret, HOLDER, await newSessionKey()), 'ENTRY_ENDED');
  });

  it('ends after ten minutes', async () => {
    const person = await clientOf(newAccount());
    const signer = await newSessionKey();
    const { secret, code } = await beginLogin(SERVER, HOLDER, signer);
    vi.setSystemTime(Date.now() + SESSION_LIMITS.loginMs + 1);
    try {
      await expectRefused(person.getLogin(code), 'NOT_FOUND');
      await expectRefused(enter(SERVER, secret, HOLDER, signer), 'ENTRY_ENDED');
    } finally {
      vi.useRealTimers();
    }
  });

  it('cannot be found by guessing', async () => {
    const guesser = await clientOf(newAccount());
    const codes = Array.from({ length: 30 }, () => 'BCDFGHJK'.replace(/./g, letter));
    const outcomes: string[] = [];
    for (const code of codes) {
      outcomes.push(
        await guesser.getLogin(code).then(
          () => 'found',
          (error) => error.code,
        ),
      );
    }
    expect(outcomes.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'NOT_FOUND'));
    expect(outcomes.slice(20)).toEqual(Array.from({ length: 10 }, () => 'RATE_LIMITED'));
    const other = await clientOf(newAccount());
    await expectRefused(other.getLogin('BCDF-GHJK'), 'NOT_FOUND');
  });
});

function letter(): string {
  return 'BCDFGHJKLMNPQRSTVWXZ'.charAt(Math.floor(Math.random() * 20));
}

describe('a session', () => {
  it('has its requests refused at once when it is ended, and its tokens', async () => {
    const account = newAccount();
    const [laptop, phone] = [await signIn(account), await signIn(account, { kind: 'browser' })];
    const [client, other] = [clientWith(laptop), clientWith(phone)];
    await other.updateMe({ deleteAfterHours: null });
    await client.endSession(phone.session);
    const ended = { code: 'SESSION_ENDED', status: 401 };
    await expect(other.updateMe({ deleteAfterHours: null })).rejects.toMatchObject(ended);
    await vi.waitFor(() => expect(other.getMe()).rejects.toMatchObject(ended));
    expect((await client.listSessions()).items.map(({ id }) => id)).toEqual([laptop.session]);
    await client.endSession(phone.session);
  });

  it('of another account can be neither seen nor ended', async () => {
    const [ana, ben] = [await signIn(newAccount()), await signIn(newAccount())];
    await clientWith(ben).endSession(ana.session);
    expect((await clientWith(ana).listSessions()).items).toHaveLength(1);
    expect((await clientWith(ben).listSessions()).items.map(({ id }) => id)).toEqual([ben.session]);
    const stolen = { ...ana, account: ben.account };
    await expectRefused(sessionTokens(SERVER, stolen)(undefined, undefined), 'SESSION_ENDED');
  });

  it('gets no token by another key, nor by a proof that was used', async () => {
    const ana = await signIn(newAccount());
    const signer = await newSessionKey();
    await expectRefused(
      sessionTokens(SERVER, { ...ana, signer })(undefined, undefined),
      'UNAUTHENTICATED',
    );
    const bodies: string[] = [];
    const listening = {
      ...SERVER,
      fetch: (async (input, init) => {
        bodies.push(String(init?.body));
        return await SELF.fetch(input as string, init as object);
      }) as typeof fetch,
    };
    await sessionTokens(listening, ana)(undefined, undefined);
    const url = 'https://drawbridge.test/api/v1/sessions/token';
    const again = await SELF.fetch(url, { method: 'POST', body: bodies[0] ?? '' });
    expect(await errorOf(again)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    const elsewhere = JSON.parse(bodies[0] ?? '');
    const bridge = { ...elsewhere, bridge: `bridge_${crypto.randomUUID()}` };
    const other = await SELF.fetch(url, { method: 'POST', body: JSON.stringify(bridge) });
    expect((await errorOf(other)).code).toBe('UNAUTHENTICATED');
  });

  it.each([-600_000, 600_000])('gets tokens where its clock is off by %d ms', async (offMs) => {
    const ana = await signIn(newAccount());
    const real = Date.now;
    const shifted = {
      ...SERVER,
      fetch: (async (input, init) => {
        const kept = Date.now;
        Date.now = real;
        try {
          return await SELF.fetch(input as string, init as object);
        } finally {
          Date.now = kept;
        }
      }) as typeof fetch,
    };
    const tokens = sessionTokens(shifted, ana);
    Date.now = () => real() + offMs;
    try {
      const token = await tokens(undefined, undefined);
      expect(await tokens(undefined, undefined)).toBe(token);
      Date.now = real;
      expect(await createClient({ ...SERVER, token }).getMe()).toMatchObject({
        account: ana.account,
      });
    } finally {
      Date.now = real;
    }
  });

  it('that asks for tokens many times at once gets one, and many programs each get theirs', async () => {
    const ana = await signIn(newAccount());
    const tokens = sessionTokens(SERVER, ana);
    const same = await Promise.all(Array.from({ length: 5 }, () => tokens(undefined, undefined)));
    expect(new Set(same).size).toBe(1);
    const programs = Array.from({ length: 10 }, () =>
      sessionTokens(SERVER, ana)(undefined, undefined),
    );
    expect(await Promise.all(programs)).toHaveLength(10);
  });

  it('asks again where a server took its request and never answered', async () => {
    const ana = await signIn(newAccount());
    let requests = 0;
    const silentOnce = {
      ...SERVER,
      fetch: ((input, init) => {
        if (++requests > 1) return SELF.fetch(input as string, init as object);
        return new Promise((_, reject) => {
          const { signal } = init as RequestInit;
          signal?.addEventListener('abort', () => reject(signal.reason));
          if (signal?.aborted) reject(signal.reason);
        });
      }) as typeof fetch,
    };
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort());
    const tokens = sessionTokens(silentOnce, ana);
    await expectRefused(tokens(undefined, undefined), 'UNREACHABLE');
    expect(timeout).toHaveBeenCalledWith(SESSION_LIMITS.answerMs);
    timeout.mockRestore();
    expect(await tokens(undefined, undefined)).toMatch(/^ey/);
  });

  it('of a browser runs no bridge', async () => {
    const phone = await signIn(newAccount(), { kind: 'browser' });
    const bridge = `bridge_${crypto.randomUUID()}`;
    await expectRefused(sessionTokens(SERVER, phone, bridge)(undefined, undefined), 'FORBIDDEN');
    const laptop = await signIn(newAccount());
    const token = await sessionTokens(SERVER, laptop, bridge)(undefined, undefined);
    expect(decodeJwt(token)).toMatchObject({ scope: 'bridge', bridge, sid: laptop.session });
    await expectRefused(createClient({ ...SERVER, token }).getMe(), 'FORBIDDEN');
  });

  it('loses the stream of its account when it ends', async () => {
    const account = newAccount();
    const [laptop, phone] = [await signIn(account), await signIn(account)];
    const events = clientWith(phone).followAccount();
    expect((await events.next()).value).toMatchObject({ event: { type: 'reset' } });
    const next = events.next();
    await clientWith(laptop).endSession(phone.session);
    await expectRefused(next, 'SESSION_ENDED');
  });

  it('loses its streams when it ends, and only its own', async () => {
    scriptModel(() => ({ text: 'Hi.' }));
    const account = newAccount();
    const [laptop, phone] = [await signIn(account), await signIn(account)];
    const client = clientWith(laptop);
    const { conversationId } = await client.chat({
      messages: [{ role: 'user', content: 'hello' }],
    });
    const follow = async (kept: typeof laptop) => {
      const token = await sessionTokens(SERVER, kept)(undefined, undefined);
      const url = `https://drawbridge.test/api/v1/conversations/${conversationId}/events`;
      return await SELF.fetch(url, { headers: { authorization: `Bearer ${token}` } });
    };
    const [mine, lost] = [await follow(laptop), await follow(phone)];
    await client.endSession(phone.session);
    expect(await lost.text()).toContain('Hi.');
    const reader = mine.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    await expectRefused(clientWith(phone).getMe(), 'SESSION_ENDED');
  });
});
