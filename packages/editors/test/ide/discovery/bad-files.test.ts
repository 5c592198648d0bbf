import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { DISCOVERY_LIMITS } from '../../../ide/discovery/limits.ts';
import { newMachine, openPort } from './announcing.ts';

type Machine = ReturnType<typeof newMachine>;

const NAME = '~/.qwen/ide/1.lock';
const isRoot = process.getuid?.() === 0;

function pathIn({ home }: Machine): string {
  const path = join(home, '.qwen/ide/1.lock');
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

const BAD: [string, (machine: Machine, good: object) => void, string][] = [
  ['no JSON', ({ announce }) => announce(NAME, '{"port": 1'), 'it holds no readable JSON'],
  ['an empty file', ({ announce }) => announce(NAME, ''), 'it holds no readable JSON'],
  [
    'JSON that nests without end',
    ({ announce }) => announce(NAME, '['.repeat(5_000) + ']'.repeat(5_000)),
    'it holds no readable JSON',
  ],
  ['another JSON', ({ announce }) => announce(NAME, [1]), 'it is no discovery file: its JSON'],
  [
    'no port',
    ({ announce }) => announce(NAME, { workspacePath: '/' }),
    'it is no discovery file: port',
  ],
  [
    'a port that is none',
    ({ announce, workspace }) => announce(NAME, { port: 65_536, workspacePath: workspace }),
    'it is no discovery file: port',
  ],
  [
    'a port with more behind it',
    ({ announce, workspace }) => announce(NAME, { port: '80@evil', workspacePath: workspace }),
    'it is no discovery file: port',
  ],
  [
    'a token that would break a header',
    ({ announce }, good) => announce(NAME, { ...good, authToken: 'a\r\nhost: evil' }),
    'it is no discovery file: authToken',
  ],
  [
    'a program instead of a port',
    ({ announce }) => announce(NAME, { stdio: { command: 'evil' }, workspacePath: '/' }),
    'Drawbridge starts none',
  ],
  [
    'a huge file',
    ({ announce }, good) =>
      announce(NAME, { ...good, more: 'x'.repeat(DISCOVERY_LIMITS.maxFileBytes) }),
    'it is too large',
  ],
  [
    'a file that its group may write',
    ({ announce }, good) => chmodSync(announce(NAME, good), 0o660),
    'other users may write it',
  ],
  [
    'a file that everyone may write',
    ({ announce }, good) => chmodSync(announce(NAME, good), 0o602),
    'other users may write it',
  ],
  [
    'a link to a good file',
    (machine, good) => symlinkSync(machine.announce('good.json', good), pathIn(machine)),
    'it is a link',
  ],
  ['a folder', (machine) => void mkdirSync(pathIn(machine)), 'it is not a regular file'],
  [
    'a pipe, without waiting for it',
    (machine) => void execFileSync('mkfifo', [pathIn(machine)]),
    'it is not a regular file',
  ],
];

test.each(BAD)('passes over %s', async (_, make, why) => {
  const machine = newMachine();
  const good = { port: await openPort(), workspacePath: machine.workspace, authToken: 'a' };
  make(machine, good);
  expect(await machine.discover()).toEqual({
    ranked: [],
    passedOver: [
      { source: join(machine.home, '.qwen/ide/1.lock'), why: expect.stringContaining(why) },
    ],
  });
});

test.runIf(isRoot)('passes over a file of another user', async () => {
  const { announce, discover, workspace } = newMachine();
  const source = announce(NAME, { port: await openPort(), workspacePath: workspace });
  chownSync(source, 1234, 1234);
  const expected = [{ source, why: 'it belongs to another user (1234)' }];
  expect(await discover()).toEqual({ ranked: [], passedOver: expected });
});

test('believes only files of its own user', async () => {
  const { announce, discover, workspace } = newMachine();
  const port = await openPort();
  const source = announce(NAME, { port, workspacePath: workspace });
  const uid = process.getuid?.() ?? 0;
  expect((await discover({ userId: uid + 1 })).passedOver).toEqual([
    { source, why: `it belongs to another user (${uid})` },
  ]);
  expect((await discover({ userId: undefined })).ranked).toMatchObject([{ port }]);
});

test('drops wrong values of what only a person reads', async () => {
  const { announce, discover, workspace } = newMachine();
  const port = await openPort();
  const file = { port, workspacePath: workspace, ppid: 'x', ideInfo: { name: 1 }, ideName: null };
  announce(`~/.qwen/ide/${port}.lock`, { ...file, authToken: '' });
  const [found] = (await discover()).ranked;
  expect(Object.keys(found ?? {}).sort()).toEqual(['family', 'port', 'roots', 'source']);
});

test('names a folder that it cannot list, and goes on', async () => {
  const { announce, discover, tmp, workspace } = newMachine();
  const port = await openPort();
  const file = announce('gemini', 'a file in the place of the folder');
  announce(`~/.qwen/ide/${port}.lock`, { port, workspacePath: workspace });
  const { ranked, passedOver } = await discover();
  expect(ranked).toMatchObject([{ port }]);
  expect(passedOver).toEqual([
    { source: join(tmp, 'gemini/ide'), why: 'it cannot be listed (ENOTDIR)' },
  ]);
  expect(readFileSync(file, 'utf8')).toContain('a file');
});

test('deletes nothing', async () => {
  const { announce, discover } = newMachine();
  const sources = [
    announce('~/.qwen/ide/1.lock', '{'),
    announce('~/.qwen/ide/2.lock', { port: 1, workspacePath: '/gone', ppid: 4_000_001 }),
  ];
  expect((await discover()).passedOver).toHaveLength(2);
  for (const source of sources) expect(readFileSync(source, 'utf8')).not.toBe('');
});
