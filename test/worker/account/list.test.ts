import { env, evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { ConversationList } from '../../../shared/api/conversations.ts';
import { newBridgeId, newConversationId } from '../../../shared/ids.ts';
import { ACCOUNT_LIMITS } from '../../../shared/limits.ts';
import type { Account } from '../../../worker/account/object.ts';
import { call, errorOf } from '../api.ts';

describe('the list of conversations', () => {
  it('is empty for an account that never had one, and asking stores nothing', async () => {
    const account = newAccount();
    expect(await list(account)).toEqual({ items: [], nextCursor: null });
    expect(await tablesOf(account)).toEqual([]);
  });

  it('begins with the one that was answered last, and moves on answers only', async () => {
    const account = newAccount();
    const [a = '', b = '', c = ''] = await begin(account, ['a', 'b', 'c']);
    expect(await titlesOf(account)).toEqual(['c', 'b', 'a']);
    await answer(account, a, { title: 'a' });
    await stub(account).update({ ...listed(b, 'b renamed'), updatedMs: Date.now() + 99_999 });
    expect(await titlesOf(account)).toEqual(['a', 'c', 'b renamed']);
    expect(await idsOf(account)).toEqual([a, c, b]);
  });

  it('comes in pages that neither repeat nor miss one, also of the same moment', async () => {
    const account = newAccount();
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      const id = newConversationId(crypto.randomUUID());
      ids.push(id);
      const updatedMs = 1_000 + Math.floor(index / 3);
      await stub(account).answered({
        ...listed(id, `n${index}`),
        updatedMs,
        text: '',
        spent: null,
      });
    }
    const pages: string[][] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: ConversationList = await list(account, {
        limit: '2',
        ...(cursor && { cursor }),
      });
      pages.push(page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 2, 1]);
    expect(new Set(pages.flat())).toEqual(new Set(ids));
  });

  it('has no next page after one that is just full', async () => {
    const account = newAccount();
    await begin(account, ['a', 'b']);
    expect((await list(account, { limit: '2' })).nextCursor).toBeNull();
  });

  it('shows archived ones only when they are asked for', async () => {
    const account = newAccount();
    const [a = ''] = await begin(account, ['a', 'b']);
    await stub(account).update({ ...listed(a, 'a'), archived: true });
    expect(await titlesOf(account)).toEqual(['b']);
    expect(await titlesOf(account, { archived: 'true' })).toEqual(['a']);
  });

  it('leaves out those of other bridges, but not those whose bridge is unknown', async () => {
    const account = newAccount();
    const [a = '', b = '', , old = ''] = await begin(account, ['a', 'b', 'none', 'old']);
    const [first, second] = [newBridgeId(crypto.randomUUID()), newBridgeId(crypto.randomUUID())];
    await stub(account).update({ ...listed(a, 'a'), bridgeId: first });
    await stub(account).update({ ...listed(b, 'b'), bridgeId: second });
    await runInDurableObject(stub(account), (_, { storage }) => {
      storage.sql.exec('update conversations set bridge = null where id = ?', old);
    });
    expect(await titlesOf(account, { bridgeId: first })).toEqual(['old', 'a']);
    expect(await titlesOf(account, { bridgeId: second })).toEqual(['old', 'b']);
    expect(await titlesOf(account)).toEqual(['old', 'none', 'b', 'a']);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a bridge that has another form', { bridgeId: 'here' }, 'INVALID_REQUEST'],
    ['a limit of none', { limit: '0' }, 'INVALID_REQUEST'],
    ['a limit that is too high', { limit: '101' }, 'INVALID_REQUEST'],
    ['a limit in words', { limit: 'ten' }, 'INVALID_REQUEST'],
    ['archived in other words', { archived: 'yes' }, 'INVALID_REQUEST'],
    ['a search that is too long', { search: 'x'.repeat(201) }, 'INVALID_REQUEST'],
    ['a cursor that is no base64', { cursor: '%%' }, 'INVALID_CURSOR'],
    ['a cursor that is no JSON', { cursor: btoa('abc') }, 'INVALID_CURSOR'],
    ['a cursor of another form', { cursor: btoa('[1]') }, 'INVALID_CURSOR'],
    ['a cursor with a wrong id', { cursor: btoa('[1,"conv_x"]') }, 'INVALID_CURSOR'],
  ])('refuses %s', async (_, query, code) => {
    const response = await call(`conversations?${new URLSearchParams(query)}`);
    expect(await errorOf(response)).toMatchObject({ status: 400, code });
  });

  it('lists one id once', async () => {
    const account = newAccount();
    const id = newConversationId(crypto.randomUUID());
    await stub(account).begin(listed(id, 'first'));
    await stub(account).begin(listed(id, 'second'));
    expect(await titlesOf(account)).toEqual(['first']);
  });
});

describe('a search', () => {
  it.each<[string, string, string, boolean]>([
    ['a word in another case', 'Fix the PARSER', 'parser', true],
    ['umlauts in another case', 'Über die ÄNDERUNG', 'änderung über', true],
    ['ß written as SS', 'Die Straße', 'STRASSE', true],
    ['accents written in two characters', 'cafe\u0301', 'CAFÉ', true],
    ['an emoji', 'party 🎉 time', '🎉', true],
    ['another emoji of the same surrogate', 'party 🎉 time', '🎊', false],
    ['part of a word', 'refactoring', 'factor', true],
    ['all words, in any order', 'alpha beta gamma', 'gamma alpha', true],
    ['words of which one is missing', 'alpha beta', 'alpha delta', false],
    ['a percent sign', '100% done', '100%', true],
    ['a percent sign that is not there', '1000 done', '10%done', false],
    ['an underscore', 'snake_case', 'snake_case', true],
    ['an underscore that is no wildcard', 'snakeXcase', 'snake_case', false],
    ['quotes', `it's "quoted"`, `"quoted" it's`, true],
    ['a backslash', 'C:\\temp', 'c:\\TEMP', true],
    ['nothing but blanks', 'anything', '   ', true],
  ])('finds %s', async (_, said, search, isFound) => {
    const account = newAccount();
    const [inTitle = '', inText = ''] = await begin(account, [said, 'other']);
    await answer(account, inText, { title: 'other', text: said });
    const ids = await idsOf(account, { search });
    expect(ids).toEqual(isFound ? [inText, inTitle] : []);
  });

  it('finds words of which one stands in the title and one in the text', async () => {
    const account = newAccount();
    const [id = ''] = await begin(account, ['Lexer']);
    await answer(account, id, { title: 'Lexer', text: 'the grammar' });
    expect(await idsOf(account, { search: 'grammar lexer' })).toEqual([id]);
  });

  it('finds what was said after a NUL', async () => {
    const account = newAccount();
    const [id = ''] = await begin(account, ['a']);
    await answer(account, id, { title: 'a', text: 'an okapi\0and a zebra' });
    await answer(account, id, { title: 'a', text: 'and a giraffe' });
    for (const search of ['okapi', 'zebra', 'giraffe']) {
      expect((await list(account, { search })).items).toHaveLength(1);
    }
  });

  it('looks through the newest text of a long conversation', async () => {
    const account = newAccount();
    const [id = ''] = await begin(account, ['Long']);
    await answer(account, id, { title: 'Long', text: 'oldest word' });
    const filler = 'é😀 '.repeat(ACCOUNT_LIMITS.maxSearchChars / 4);
    for (let round = 0; round < 2; round++)
      await answer(account, id, { title: 'Long', text: filler });
    await answer(account, id, { title: 'Long', text: 'newest word' });
    expect(await idsOf(account, { search: 'newest' })).toEqual([id]);
    expect(await idsOf(account, { search: 'oldest' })).toEqual([]);
    const stored = await runInDurableObject(stub(account), (_object, { storage }) =>
      storage.sql.exec('select length(search) as size from conversations').one(),
    );
    expect(stored['size']).toBe(ACCOUNT_LIMITS.maxSearchChars);
  });

  it('goes on over pages', async () => {
    const account = newAccount();
    await begin(account, ['match 1', 'no', 'match 2', 'no', 'match 3']);
    const first = await list(account, { search: 'match', limit: '2' });
    const second = await list(account, {
      search: 'match',
      limit: '2',
      cursor: first.nextCursor ?? '',
    });
    expect([first, second].map(({ items }) => items.map(({ title }) => title))).toEqual([
      ['match 3', 'match 2'],
      ['match 1'],
    ]);
  });
});

it('goes on with what an earlier version has stored', async () => {
  const account = newAccount();
  await runInDurableObject(stub(account), (_, { storage: { sql } }) => {
    sql.exec('create table schema_version (version integer not null)');
    sql.exec('insert into schema_version (version) values (1)');
    sql.exec(
      'create table bridges (id text primary key, connected_at integer not null) without rowid',
    );
    sql.exec("insert into bridges values ('bridge_old', 5)");
  });
  await evictDurableObject(stub(account));
  expect(await list(account)).toEqual({ items: [], nextCursor: null });
  expect(await stub(account).bridges()).toEqual([
    { id: 'bridge_old', connectedAtMs: 5, connected: false },
  ]);
  await begin(account, ['new']);
  expect(await titlesOf(account)).toEqual(['new']);
});

function newAccount(): string {
  return `ada-${crypto.randomUUID()}`;
}

function stub(account: string): DurableObjectStub<Account> {
  return env.ACCOUNTS.get(env.ACCOUNTS.idFromName(account));
}

function listed(id: string, title: string) {
  return {
    id,
    title,
    archived: false,
    createdMs: 1,
    updatedMs: 1,
    isRunning: false,
    hasSubagents: false,
    bridgeId: null,
  };
}

/** One a millisecond, so that their order is known. */
async function begin(account: string, titles: readonly string[]): Promise<string[]> {
  const ids = titles.map(() => newConversationId(crypto.randomUUID()));
  for (const [index, title] of titles.entries()) {
    await stub(account).begin({ ...listed(ids[index] ?? '', title), updatedMs: index + 1 });
  }
  return ids;
}

async function answer(
  account: string,
  id: string,
  { title, text = '' }: { title: string; text?: string },
): Promise<void> {
  await stub(account).answered({ ...listed(id, title), updatedMs: Date.now(), text, spent: null });
}

async function list(
  account: string,
  query: Record<string, string> = {},
): Promise<ConversationList> {
  const response = await call(`conversations?${new URLSearchParams(query)}`, { account });
  return ConversationList.parse(await response.json());
}

async function titlesOf(account: string, query?: Record<string, string>): Promise<string[]> {
  return (await list(account, query)).items.map(({ title }) => title);
}

async function idsOf(account: string, query?: Record<string, string>): Promise<string[]> {
  return (await list(account, query)).items.map(({ id }) => id);
}

function tablesOf(account: string): Promise<unknown[]> {
  return runInDurableObject(stub(account), (_, { storage }) =>
    storage.sql.exec('select name from sqlite_master').toArray(),
  );
}
