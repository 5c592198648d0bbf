import { env } from 'cloudflare:workers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { newConversationId } from '../../../shared/ids.ts';
import { HeavyTurns, inTurns, turnOf } from '../../../worker/account/heavy-work.ts';
import { HEAVY_LIMITS } from '../../../worker/account/limits.ts';
import { accountOf } from '../../../worker/objects.ts';
import { PACE_LIMITS } from '../../../worker/storage/pace.ts';
import { call, errorOf } from '../api.ts';
import { newAccount } from '../people/people.ts';

describe('the turns of an account', () => {
  it('come one after the other, with a rest between two', () => {
    const turns = new HeavyTurns();
    const [first, second] = [turns.join('ana', 0), turns.join('ana', 0)];
    const other = turns.join('bob', 0);
    if (!first || !second || !other) throw new Error('few wait');
    expect([first, second, other].map((turn) => turns.ahead(turn, 0))).toEqual([0, 1, 0]);
    turns.leave(first, 0);
    expect(turns.ahead(second, 1)).toBe(0);
    expect([1, HEAVY_LIMITS.restMs].map((nowMs) => turns.restMs(second, nowMs))).toEqual([
      HEAVY_LIMITS.restMs - 1,
      0,
    ]);
    expect(turns.restMs(other, 0)).toBe(0);
  });

  it('pass over a request whose client has left', () => {
    const turns = new HeavyTurns();
    const [gone, next] = [turns.join('ana', 0), turns.join('ana', 0)];
    if (!gone || !next) throw new Error('few wait');
    expect(turns.ahead(next, HEAVY_LIMITS.goneMs - 1)).toBe(1);
    expect(turns.ahead(next, HEAVY_LIMITS.goneMs)).toBe(0);
    turns.leave(gone, HEAVY_LIMITS.goneMs);
  });

  it('come to a request that was passed over and is there after all', () => {
    const turns = new HeavyTurns();
    const late = turns.join('ana', 0);
    const next = turns.join('ana', HEAVY_LIMITS.goneMs);
    if (!late || !next) throw new Error('few wait');
    expect(turns.ahead(next, HEAVY_LIMITS.goneMs)).toBe(0);
    expect(turns.ahead(late, HEAVY_LIMITS.goneMs)).toBe(1);
    turns.leave(next, HEAVY_LIMITS.goneMs);
    expect(turns.ahead(late, HEAVY_LIMITS.goneMs)).toBe(0);
  });

  it('are refused to those who come when too many wait', () => {
    const turns = new HeavyTurns();
    const waiting = Array.from({ length: HEAVY_LIMITS.maxWaiting + 1 }, () => turns.join('ana', 0));
    expect(waiting).not.toContain(null);
    expect(turns.join('ana', 0)).toBe(null);
    expect(turns.join('bob', 0)).not.toBe(null);
  });
});

it('a search waits for the heavy work of its account, and a request that is not heavy does not', async () => {
  const account = newAccount();
  const order: string[] = [];
  const turn = await turnOf(account);
  const search = call('conversations?search=word', { account }).then(() => order.push('search'));
  await call('bridges', { account }).then(() => order.push('bridges'));
  await call('conversations', { account: newAccount() }).then(() => order.push('another account'));
  order.push('end');
  turn[Symbol.dispose]();
  await search;
  expect(order).toEqual(['bridges', 'another account', 'end', 'search']);
});

it('a search is refused with the time to wait where too many wait', async () => {
  const account = newAccount();
  const held = await turnOf(account);
  const waiting = Array.from({ length: HEAVY_LIMITS.maxWaiting }, () => turnOf(account));
  const response = await call('conversations?search=word', { account });
  expect(response.status).toBe(429);
  expect(response.headers.get('retry-after')).toBe('2');
  expect(await errorOf(response)).toMatchObject({ code: 'RATE_LIMITED' });
  held[Symbol.dispose]();
  for (const turn of waiting) (await turn)[Symbol.dispose]();
});

it('an export takes a turn for each part', async () => {
  const account = newAccount();
  async function* parts() {
    yield 'one';
    yield 'two';
  }
  const texts = inTurns(account, parts());
  expect(await texts.next()).toMatchObject({ value: 'one' });
  // The client has not read on, and may never do.
  const between = await turnOf(account);
  const second = texts.next();
  between[Symbol.dispose]();
  expect(await second).toMatchObject({ value: 'two' });
  expect(await texts.next()).toMatchObject({ done: true });
  (await turnOf(account))[Symbol.dispose]();
});

it('a list of many parts has each conversation once, in order, and rests between the parts', async () => {
  const account = newAccount();
  const count = 4 * PACE_LIMITS.firstRows;
  const object = () => accountOf(env, account);
  const listing = Array.from({ length: count }, (_, number) => list(account, number));
  const ids = await Promise.all(listing);
  const listed: string[] = [];
  let cursor = '';
  do {
    const page = await call(`conversations?limit=100&search=word${cursor}`, { account });
    const { items, nextCursor }: { items: { id: string }[]; nextCursor: string | null } =
      await page.json();
    listed.push(...items.map(({ id }) => id));
    cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`;
  } while (cursor !== '');
  expect(listed).toEqual(ids.filter((_, number) => number % 3 === 0).reverse());

  const rests = vi.spyOn(scheduler, 'wait');
  onTestFinished(() => rests.mockRestore());
  const nowhere = { limit: 1, after: null, words: ['nowhere'], archived: false };
  await object().list(nowhere, () => true);
  const parts = rests.mock.calls.length;
  expect(parts).toBeGreaterThan(1);
});

describe('a client that leaves', () => {
  it('ends its search between two parts', async () => {
    const account = newAccount();
    const count = 8 * PACE_LIMITS.firstRows;
    await Promise.all(Array.from({ length: count }, (_, number) => list(account, number)));
    const wait = scheduler.wait.bind(scheduler);
    const rests = vi.spyOn(scheduler, 'wait').mockImplementation(() => wait(300));
    onTestFinished(() => rests.mockRestore());
    const leaving = new AbortController();
    const { signal } = leaving;
    const searching = call('conversations?search=nowhere', { account, signal });
    await vi.waitFor(() => expect(rests).toHaveBeenCalledTimes(1));
    leaving.abort();
    await expect(searching).rejects.toThrow();
    await wait(1_000);
    expect(rests).toHaveBeenCalledTimes(1);
  });

  it('frees the place of its large message, which is not read', async () => {
    const account = newAccount();
    const held = await turnOf(account);
    const leaving = new AbortController();
    const body = { messages: [{ role: 'user', content: 'x'.repeat(2 * HEAVY_LIMITS.bodyBytes) }] };
    const sending = call('chat/completions', { body, account, signal: leaving.signal });
    const others: Promise<Disposable>[] = [];
    const join = async () => {
      const turn = turnOf(account);
      const isIn = await Promise.race([
        turn.then(
          () => true,
          () => false,
        ),
        scheduler.wait(10).then(() => true),
      ]);
      if (isIn) others.push(turn);
      return isIn;
    };
    while (await join());
    expect(others.length).toBe(HEAVY_LIMITS.maxWaiting - 1);
    leaving.abort();
    await expect(sending).rejects.toThrow();
    await vi.waitFor(async () => expect(await join()).toBe(true));
    held[Symbol.dispose]();
    for (const turn of others) (await turn)[Symbol.dispose]();
  });
});

/** A conversation, older than those of higher numbers. One of three has the word `word` in its title. */
async function list(account: string, number: number): Promise<string> {
  const id = newConversationId(crypto.randomUUID());
  const about = { id, title: number % 3 === 0 ? 'one word' : 'another', archived: false };
  const state = { isRunning: false, hasSubagents: false, bridgeId: null };
  await accountOf(env, account).begin({ ...about, ...state, createdMs: number, updatedMs: number });
  return id;
}
