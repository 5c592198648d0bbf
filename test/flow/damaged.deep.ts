/** Damaged files of accounts, and files that deleted accounts have left behind, on a server of its own. */
import { execFile } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { uniqueKeyOf } from '../../local/runtime/workerd-config.ts';
import { mintToken } from '../../local/state/tokens.ts';
import { AccountStanding } from '../../shared/api/accounts.ts';
import { Health } from '../../shared/api/answers.ts';
import { DRAWBRIDGE, endProcess, type House, startHouse, until, workerdOf } from './house.ts';

const PAGE = 4096;
const API_ALONE = { args: ['--no-bridge'] };

type Damage = (file: string) => void;

/** Those after which the runtime opens the file, and the account can empty it. */
const OPENED: Readonly<Record<string, Damage>> = {
  'all but the first page': (file) => overwrite(file, PAGE, statSync(file).size - PAGE),
  'the pages of its lists': (file) => overwrite(file, 2 * PAGE, statSync(file).size - 2 * PAGE),
  'the page of its version': (file) => overwriteTable(file, 'schema_version'),
  'the page of its conversations': (file) => overwriteTable(file, 'conversations'),
  'the page of its standing': (file) => overwriteTable(file, 'standing'),
};
const UNOPENED: Readonly<Record<string, Damage>> = {
  'all of it': (file) => writeFileSync(file, 'no database'.repeat(1000)),
  'the first page': (file) => overwrite(file, 0, PAGE),
  'its tables': (file) => overwrite(file, 100, PAGE - 100),
  'its end': (file) => truncateSync(file, PAGE),
};

function overwriteTable(file: string, name: string): void {
  const database = new DatabaseSync(file);
  const row = database.prepare('select rootpage from sqlite_master where name = ?').get(name);
  database.close();
  overwrite(file, (Number(Object(row)['rootpage']) - 1) * PAGE, PAGE);
}

function overwrite(file: string, from: number, bytes: number): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, from);
  closeSync(handle);
}

function filesOf({ state }: House, className: string): string[] {
  const folder = join(state, 'storage', uniqueKeyOf(className));
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => /^[0-9a-f]{64}\.sqlite$/.test(name))
    .map((name) => join(folder, name));
}

/** What it does of its own, as files: changes of the log are written into it, so that bytes of it can be damaged. */
function settle(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('pragma wal_checkpoint(truncate)');
  database.close();
}

async function clientOf({ ready, state }: House, account: string) {
  const secret = readFileSync(join(state, 'auth-secret'), 'utf8');
  const token = await mintToken(secret, { scope: 'user' }, new Date(), { account });
  return createClient({ url: ready.url, token });
}

async function operate({ fetch, state }: House, path: string, method = 'GET') {
  const secret = readFileSync(join(state, 'auth-secret'), 'utf8');
  const token = await mintToken(secret, { scope: 'operator' }, new Date());
  return await fetch(path, { method, headers: { authorization: `Bearer ${token}` } });
}

async function look(house: House, account: string): Promise<AccountStanding> {
  const response = await operate(house, `/api/v1/accounts/${account}`);
  expect(response.status).toBe(200);
  return AccountStanding.parse(await response.json());
}

const hello = { messages: [{ role: 'user' as const, content: 'hello' }] };

/** Whether the file has contents of a conversation: an empty one goes with the next start. */
function hasTables(file: string): boolean {
  return [file, `${file}-wal`].some(
    (each) => existsSync(each) && /table tape/i.test(readFileSync(each, 'latin1')),
  );
}

/** Ends the server, does something with its files, and starts it again. */
async function reopen(house: House, meanwhile: () => void): Promise<House> {
  await endProcess(house.up);
  meanwhile();
  return await startHouse({ ...API_ALONE, folder: house.folder });
}

/** A house with a conversation of ana and one of eva, and their files. */
async function inhabited() {
  const house = await startHouse(API_ALONE);
  const files: Record<string, string[]> = {};
  for (const account of ['eva', 'ana']) {
    const before = ['Account', 'Conversation'].flatMap((name) => filesOf(house, name));
    const { conversationId } = await (await clientOf(house, account)).chat(hello);
    const made = ['Account', 'Conversation'].flatMap((name) => filesOf(house, name));
    files[account] = made.filter((file) => !before.includes(file));
    expect([conversationId.slice(0, 5), files[account].length]).toEqual(['conv_', 2]);
  }
  const [account = '', conversation = ''] = files['ana'] ?? [];
  return { house, account, conversation, others: files['eva'] ?? [] };
}

describe('a damaged account', () => {
  it.each(Object.keys({ ...OPENED, ...UNOPENED }))(
    'is seen, counted and named: %s',
    async (how) => {
      const { house: before, account, conversation, others } = await inhabited();
      let house = await reopen(before, () => {
        settle(account);
        ({ ...OPENED, ...UNOPENED })[how]?.(account);
      });
      expect(Health.parse(await (await fetch(`${house.ready.url}/health`)).json()).damaged).toBe(0);
      await expect((await clientOf(house, 'ana')).listConversations()).rejects.toMatchObject({
        code: 'DAMAGED',
      });
      expect(await look(house, 'ana')).toMatchObject({ state: 'damaged' });
      const health = await fetch(`${house.ready.url}/health`);
      expect([health.status, await health.json()]).toEqual([200, { status: 'ok', damaged: 1 }]);
      const object = account.slice(-'.sqlite'.length - 64, -'.sqlite'.length);
      const log = () => readFileSync(join(house.state, 'logs', 'workerd.log'), 'utf8');
      const lines = () =>
        log()
          .split('\n')
          .filter((line) => line.includes('"storage_damaged"'));
      await expect.poll(() => lines().length).toBeGreaterThanOrEqual(2);
      for (const line of lines())
        expect(JSON.parse(line)).toMatchObject({ account: 'ana', object });
      const token = readFileSync(join(house.state, 'metrics-token'), 'utf8').trim();
      const metrics = await house.fetch('/metrics', {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(await metrics.text()).toContain('\ndrawbridge_damaged_objects 1\n');

      const show = [DRAWBRIDGE, 'accounts', 'show', 'ana', '--state', house.state];
      const shown = await promisify(execFile)(process.execPath, show);
      expect(shown.stdout).toMatch(/^ana {2}damaged: its database cannot be read\. /);
      const deleted = await operate(house, '/api/v1/accounts/ana', 'DELETE');
      if (how in UNOPENED) {
        const { error } = Object(await deleted.json());
        expect([deleted.status, error.code]).toEqual([500, 'DAMAGED']);
        expect(error.message).toContain('check --state DIR --erase ACCOUNT');
        expect(hasTables(conversation)).toBe(true);
      } else {
        expect(deleted.status).toBe(200);
        await until(async () => (await look(house, 'ana')).state === 'deleted');
        const refused = (await clientOf(house, 'ana')).chat(hello);
        await expect(refused).rejects.toMatchObject({ code: 'ACCOUNT_DELETED' });
        // What its lists cannot tell any more is found by the next look for what was left behind.
        house = await reopen(house, () => {});
        await until(() => !hasTables(conversation));
        expect(await look(house, 'ana')).toMatchObject({ state: 'deleted' });
      }
      expect(others.every((file) => existsSync(file))).toBe(true);
      await house[Symbol.asyncDispose]();
    },
  );
});

describe('what a deleted account has left behind', () => {
  it('is gone soon after a start, and nothing of others', async () => {
    const { house: before, account, conversation, others } = await inhabited();
    const kept = join(before.folder, 'kept');
    let house = await reopen(before, () => {
      settle(conversation);
      copyFileSync(conversation, kept);
      // As after a crash in the middle of a fork of before: the account has never heard of it.
      settle(account);
      const database = new DatabaseSync(account);
      for (const table of ['conversations', 'unlisted']) database.exec(`delete from ${table}`);
      database.close();
    });
    expect((await operate(house, '/api/v1/accounts/ana', 'DELETE')).status).toBe(200);
    await until(async () => (await look(house, 'ana')).state === 'deleted');
    expect(hasTables(conversation)).toBe(true);

    house = await reopen(house, () => {});
    await until(() => !hasTables(conversation));
    expect((await look(house, 'ana')).state).toBe('deleted');
    const eva = await clientOf(house, 'eva');
    const [{ id } = { id: '' }] = (await eva.listConversations()).items;
    expect((await eva.getConversation(id)).responses).toHaveLength(1);

    house = await reopen(house, () => {});
    expect([existsSync(conversation), others.every((file) => existsSync(file))]).toEqual([
      false,
      true,
    ]);

    // Once more while workerd is killed again and again, until it is gone.
    house = await reopen(house, () => {
      for (const end of ['-wal', '-shm']) rmSync(`${conversation}${end}`, { force: true });
      copyFileSync(kept, conversation);
    });
    for (let kills = 0; kills < 2; kills++) {
      const pid = workerdOf(house);
      process.kill(pid, 'SIGKILL');
      await until(() => !existsSync(`/proc/${pid}`));
      await until(
        async () => (await fetch(`${house.ready.url}/health`).catch(() => null)) !== null,
      );
    }
    house = await reopen(house, () => {});
    await until(() => !hasTables(conversation));
    expect((await eva.getConversation(id).catch(() => null))?.responses ?? [1]).toHaveLength(1);
    await house[Symbol.asyncDispose]();
  });
});

it('a deletion that the end of the server cut off goes on without a request for the account', async () => {
  let house = await startHouse({ ...API_ALONE, variables: { RATE_LIMIT_RUNS_PER_MINUTE: '0' } });
  const client = await clientOf(house, 'ana');
  await Promise.all(Array.from({ length: 60 }, () => client.chat(hello)));
  const files = filesOf(house, 'Conversation');
  expect((await operate(house, '/api/v1/accounts/ana', 'DELETE')).status).toBe(200);
  const pid = workerdOf(house);
  house.up.kill('SIGKILL');
  await until(() => !existsSync(`/proc/${pid}`));
  const left = files.filter(hasTables).length;
  expect(left).toBeGreaterThan(0);
  house = await startHouse({ ...API_ALONE, folder: house.folder });
  await until(() => !files.some(hasTables));
  await until(async () => (await look(house, 'ana')).state === 'deleted');
  expect((await look(house, 'ana')).deleted.failed).toBe(0);
  await house[Symbol.asyncDispose]();
});
