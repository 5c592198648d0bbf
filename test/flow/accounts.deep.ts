/** The deletion of a large account across the death of the runtime. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { AccountStanding } from '../../shared/api/accounts.ts';
import { workerdOf } from './house.ts';
import { oneHouse } from './one-house.ts';

const COUNT = 400;
const AT_ONCE = 20;
const MAX_KILLS = 3;

const at = oneHouse({
  args: ['--no-bridge'],
  variables: { RATE_LIMIT_RUNS_PER_MINUTE: '0', RATE_LIMIT_REQUESTS_PER_MINUTE: '0' },
});

function mint(scope: 'user' | 'operator', account: string): Promise<string> {
  const secret = readFileSync(join(at.house.state, 'auth-secret'), 'utf8');
  return mintToken(secret, { scope }, new Date(), { account });
}

it('goes on after each kill, and counts each conversation once', async () => {
  at.answerWith(() => ({ text: 'An answer.' }));
  const client = createClient({ url: at.house.ready.url, token: await mint('user', 'dora') });
  const messages = [{ role: 'user' as const, content: 'hello' }];
  for (let made = 0; made < COUNT; made += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => client.chat({ messages })));
  }
  const headers = { authorization: `Bearer ${await mint('operator', 'operator')}` };
  /** Undefined while nothing answers. */
  const operate = async (method: string): Promise<AccountStanding | undefined> => {
    const asked = at.house.fetch('/api/v1/accounts/dora', { method, headers });
    const response = await asked.catch(() => undefined);
    return response?.ok ? AccountStanding.parse(await response.json()) : undefined;
  };
  expect(await operate('DELETE')).toMatchObject({ has: { conversations: COUNT } });
  const killedAt = [0];
  // As fast as it answers: a part is deleted in some milliseconds.
  for (let state = 'deleting'; state !== 'deleted'; ) {
    const standing = await operate('GET');
    state = standing?.state ?? state;
    const count = standing?.deleted.conversations ?? 0;
    if (count > (killedAt.at(-1) ?? 0) && count < COUNT && killedAt.length <= MAX_KILLS) {
      process.kill(workerdOf(at.house), 'SIGKILL');
      killedAt.push(count);
    }
  }
  expect(killedAt.length).toBeGreaterThan(1);
  expect(await operate('GET')).toMatchObject({
    has: { conversations: 0, bridges: 0, sessions: 0 },
    deleted: { conversations: COUNT, failed: 0 },
  });
  await expect(client.listConversations()).rejects.toMatchObject({ code: 'ACCOUNT_DELETED' });
});
