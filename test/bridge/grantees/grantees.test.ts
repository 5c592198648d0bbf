import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Audit, readAudit } from '../../../bridge/grantees/audit.ts';
import { changeGrants, readGrants } from '../../../bridge/grantees/grant-file.ts';
import { Grantees } from '../../../bridge/grantees/grantees.ts';
import { GRANTEE_LIMITS } from '../../../bridge/grantees/limits.ts';
import { logTo } from '../../../machine/log.ts';
import type { LogEntry } from '../../../machine/log-line.ts';
import { newConversationId } from '../../../shared/ids.ts';
import { GRANT_LIMITS } from '../../../shared/limits.ts';
import { type AccountGrant, GrantedName, nameFor } from '../../../shared/wire/grants.ts';
import { temporaryFolder } from '../tools/temporary-workspace.ts';

const SINCE = '2026-11-24T00:00:00.000Z';
const grant = (name: string, more: Partial<AccountGrant> = {}): AccountGrant => ({
  name,
  preset: 'workspace',
  since: SINCE,
  ...more,
});
const newId = () => newConversationId(crypto.randomUUID());

async function granteesOf(...grants: readonly AccountGrant[]) {
  const stateDir = await temporaryFolder();
  await changeGrants(stateDir, () => grants);
  return { stateDir, grantees: new Grantees(stateDir) };
}

const codeOf = (entering: Promise<unknown>) =>
  entering.then(
    () => 'let in',
    ({ code }) => code,
  );

test.each([
  ['ben', true],
  ['ben@example.com', true],
  ['auth0|5f7c8ec7c33c6c004bbafe82', true],
  ['Søren', true],
  ['app:shop', true],
  ['app:shop:42', true],
  ['app:shop:a:b', true],
  ['x'.repeat(GRANT_LIMITS.maxNameChars), true],
  ['', false],
  [' ', false],
  ['ben ', false],
  ['b en', false],
  ['ben\n', false],
  ['ben\u0000', false],
  ['ben\u202e', false],
  ['\u2066ben', false],
  ['be\u200bn', false],
  ['\u3164', false],
  ['\u2800', false],
  ['ben\u00a0', false],
  ['ben\ud800', false],
  ['"ben"', false],
  ['x'.repeat(300), false],
  ['app', false],
  ['app:', false],
  ['app::42', false],
  ['app:Shop', false],
  ['app:shop:', false],
  ['app:shop:4 2', false],
  ['app:*', false],
])('whether %j is a name that a machine can let in: %s', (name, isName) => {
  expect(GrantedName.safeParse(name).success).toBe(isName);
});

test.each([
  ['ben', ['ben'], 'ben'],
  ['ben', ['Ben', 'be', 'benn', 'app:ben'], undefined],
  ['app:shop:42', ['app:shop'], 'app:shop'],
  ['app:shop:42', ['app:shop', 'app:shop:42'], 'app:shop:42'],
  ['app:shop:42', ['app:shop:4', 'app:sho', 'app:shopper', 'shop', '42'], undefined],
  ['app:shop:42:app:other', ['app:other'], undefined],
  ['app:shop', ['app:shop'], undefined],
  ['', ['ben'], undefined],
])('account %j among %j is let in by %j', (account, names, name) => {
  expect(nameFor(account, names)).toBe(name);
});

test.each<[string, string]>([
  ['no JSON', '{"grants": ['],
  ['a list', '[]'],
  ['an unknown field', JSON.stringify({ grants: [{ ...grant('ben'), admin: true }] })],
  ['no preset', JSON.stringify({ grants: [{ name: 'ben', since: SINCE }] })],
  ['an unknown preset', JSON.stringify({ grants: [{ ...grant('ben'), preset: 'all' }] })],
  ['a name twice', JSON.stringify({ grants: [grant('ben'), grant('ben')] })],
  [
    'a hidden name beside a good one',
    JSON.stringify({ grants: [grant('ben'), grant('e\u202eve')] }),
  ],
  ['a wildcard', JSON.stringify({ grants: [grant('ben'), grant('app:*')] })],
  ['worktrees as a text', JSON.stringify({ grants: [{ ...grant('ben'), worktrees: 'false' }] })],
  ['too many', JSON.stringify({ grants: Array.from({ length: 101 }, (_, i) => grant(`u${i}`)) })],
])('a file of grants with %s lets no one in, and is reported once', async (_, text) => {
  const { stateDir, grantees } = await granteesOf(grant('ben'));
  writeFileSync(join(stateDir, 'grants.json'), text);
  const lines = await logged(async () => {
    expect(await grantees.names()).toEqual([]);
    expect(await codeOf(grantees.enter({ ...call(), grantee: 'ben' }))).toBe('NOT_GRANTED');
    expect(await codeOf(grantees.enter(call()))).toBe('let in'); // The owner.
  });
  expect(lines.filter(({ event }) => event === 'grants_unreadable')).toHaveLength(1);
  await expect(changeGrants(stateDir, () => [])).rejects.toThrow('lets no one in');
});

test('every account meets every conversation: only its own, new ones, and none without a grant', async () => {
  const { grantees } = await granteesOf(
    ...[grant('ben'), grant('cleo'), grant('app:shop'), grant('dan', { worktrees: true })],
  );
  const accounts = [undefined, 'ben', 'cleo', 'app:shop:1', 'app:shop:2'];
  const own = new Map(accounts.map((grantee) => [grantee, newId()]));
  for (const [grantee, conversationId] of own) {
    expect(await codeOf(grantees.enter({ ...call(), conversationId, grantee }))).toBe('let in');
  }
  for (const grantee of [...accounts, 'eve', 'app:other:1', '', 'ben\u200b', 'BEN']) {
    for (const [owner, conversationId] of own) {
      const isOwn = grantee === owner;
      for (const named of [{ conversationId }, { worktree: conversationId }]) {
        const entered = await codeOf(grantees.enter({ ...call(), ...named, grantee }));
        expect(entered).toBe(isOwn ? 'let in' : 'NOT_GRANTED');
      }
    }
  }
});

test('a grant for worktrees refuses each call that is not in one', async () => {
  const { grantees } = await granteesOf(grant('ben', { worktrees: true }));
  const enter = (more: object) => codeOf(grantees.enter({ ...call(), grantee: 'ben', ...more }));
  expect(await enter({})).toBe('WORKTREE_REQUIRED');
  expect(await enter({ tool: 'run_terminal_cmd' })).toBe('WORKTREE_REQUIRED');
  expect(await enter({ worktree: true })).toBe('let in');
  expect(await enter({ tool: 'open_worktree' })).toBe('let in');
});

test('grants change one after the other, in a file that only the owner reads', async () => {
  const { stateDir } = await granteesOf(grant('ben'));
  await changeGrants(stateDir, (known) => [...known, grant('app:shop', { preset: 'read-only' })]);
  expect((await readGrants(stateDir)).map(({ name }) => name)).toEqual(['ben', 'app:shop']);
  expect(statSync(join(stateDir, 'grants.json')).mode & 0o777).toBe(0o600);
  expect(await readGrants(await temporaryFolder())).toEqual([]);
});

test('the record is bounded, whole lines count alone, and no word of it breaks a line', async () => {
  const stateDir = await temporaryFolder();
  const audit = new Audit(stateDir);
  const record = { account: 'ben', conversation: newId(), call: 'c', tool: 'read_file' } as const;
  const note = (subject: string) =>
    audit.note({ type: 'call', ...record, subject, outcome: 'success' });
  note('a\nb');
  writeFileSync(join(stateDir, 'audit.jsonl'), '{"type":"call","ti\n', { flag: 'a' });
  note('c');
  expect((await readAudit(stateDir)).map((each) => 'subject' in each && each.subject)).toEqual([
    'a\nb',
    'c',
  ]);
  const long = 'x'.repeat(GRANTEE_LIMITS.maxAuditBytes);
  for (const subject of [long, 'second', long, 'last']) note(subject);
  const kept = (await readAudit(stateDir)).map((each) => 'subject' in each && each.subject);
  expect(kept).toEqual(['second', long, 'last']);
  expect(statSync(join(stateDir, 'audit.jsonl')).mode & 0o777).toBe(0o600);
});

test('a disk that takes no record ends no call', async () => {
  const audit = new Audit(join(await temporaryFolder(), 'missing'));
  const lines = await logged(async () => {
    for (const call of ['one', 'two']) {
      const about = { account: 'ben', conversation: newId(), call, tool: 'grep' };
      audit.note({ type: 'call', ...about, outcome: 'success' });
    }
  });
  expect(lines.map(({ event }) => event)).toEqual(['audit_unwritable']);
});

function call() {
  return { conversationId: newId(), tool: 'read_file' };
}

async function logged(work: () => Promise<void>): Promise<LogEntry[]> {
  const lines: LogEntry[] = [];
  await logTo((entry) => lines.push(entry), work);
  return lines;
}
