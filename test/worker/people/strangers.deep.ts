import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { newSessionKey } from '../../../client/index.ts';
import { ENTRY_LIMITS } from '../../../worker/directory/limits.ts';

it.each([
  ['nine networks', (n: number) => `2001:db8:${(n % 9) + 1}:1::${n.toString(16)}`],
  ['all networks of a site', (n: number) => `2001:db8:0:${n.toString(16)}::1`],
])('%s that fill all waiting places keep no login of others out', async (_, crowd) => {
  const directory = env.DIRECTORY.get(env.DIRECTORY.idFromName(crypto.randomUUID()));
  const { publicKey: key } = await newSessionKey();
  const begin = async (address: string | undefined) => {
    const secret = crypto.randomUUID();
    const login = { secret, name: 'x', kind: 'machine' as const, key, address };
    const begun = await directory.beginLogin({ ...login, expiresMs: Date.now() + 600_000 });
    return begun.ok ? begun.value : '';
  };
  const approved = await begin(crowd(0));
  const decider = { account: 'ana', session: undefined };
  await directory.decideLogin(decider, approved, { decision: 'approve', key });
  for (let number = 1; number < ENTRY_LIMITS.maxLogins; number++) await begin(crowd(number));
  const mine = [await begin('198.51.100.9'), await begin(undefined)];
  for (let number = 2_000; number < 2_200; number++) await begin(crowd(number));
  for (const code of mine) expect(await directory.login('ana', code)).toMatchObject({ ok: true });
});
