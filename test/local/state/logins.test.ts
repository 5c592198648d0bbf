import { expect, it } from 'vitest';
import { forgetLogin, type KeptLogin, keepLogin, readLogins } from '../../../local/state/logins.ts';
import { newSessionId } from '../../../shared/ids.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function loginAt(url: string): KeptLogin {
  const part = 'x'.repeat(43);
  const privateKey = { kty: 'EC', crv: 'P-256', x: part, y: part, d: part } as const;
  return { url, account: 'ana', session: newSessionId(crypto.randomUUID()), privateKey };
}

it('machines that sign in and out at several servers at once lose no session', async () => {
  const dir = temporaryFolder();
  const logins = ['a', 'b', 'c', 'd'].map((name) => loginAt(`https://${name}.example`));
  const [first, ...others] = logins as [KeptLogin, ...KeptLogin[]];
  await keepLogin(dir, first);
  await Promise.all([
    ...others.map((login) => keepLogin(dir, login)),
    forgetLogin(dir, first.session),
    forgetLogin(dir, first.session),
  ]);
  const kept = (await readLogins(dir)).map(({ url }) => url).toSorted();
  expect(kept).toEqual(others.map(({ url }) => url));
});
