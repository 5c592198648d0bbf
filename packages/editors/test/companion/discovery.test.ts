import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { CompanionServer, removeLeftover } from '../../companion/index.ts';
import { discover } from '../../ide/discovery/discover.ts';
import { connect, newPlace, startCompanion, tokenOf } from './companions.ts';

async function announce(roots?: string[]) {
  const started = await startCompanion(roots && { roots });
  const { companion, discovery } = started;
  const { port } = companion;
  const name = `${process.pid}-${port}.json`;
  const { temporaryFolder, qwenFolder } = discovery;
  const paths = {
    gemini: join(temporaryFolder, 'gemini', 'ide', `gemini-ide-server-${name}`),
    lock: join(qwenFolder, 'ide', `${port}.lock`),
    specified: join(temporaryFolder, 'qwen', 'ide', `qwen-code-ide-server-${name}`),
  };
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  return { ...started, port, paths, read };
}

it('each family finds a file with a key of its own, which only the owner reads', async () => {
  const { companion, root, port, paths, read } = await announce();
  const ideInfo = { name: 'vim', displayName: 'Vim' };
  const gemini = { port, workspacePath: root, authToken: tokenOf(companion, 'gemini'), ideInfo };
  const qwen = { ...gemini, authToken: tokenOf(companion, 'qwen') };
  expect(read(paths.gemini)).toEqual(gemini);
  expect(read(paths.lock)).toEqual({ ...qwen, ppid: process.pid, ideName: 'Vim' });
  expect(read(paths.specified)).toEqual(qwen);
  expect(gemini.authToken).not.toBe(qwen.authToken);
  for (const path of Object.values(paths)) {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(dirname(dirname(path))).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toHaveLength(1);
  }
  expect(companion.problems).toEqual([]);
  expect(companion.environment).toEqual({
    GEMINI_CLI_IDE_SERVER_PORT: String(port),
    GEMINI_CLI_IDE_WORKSPACE_PATH: root,
    GEMINI_CLI_IDE_AUTH_TOKEN: gemini.authToken,
    QWEN_CODE_IDE_SERVER_PORT: String(port),
    QWEN_CODE_IDE_WORKSPACE_PATH: root,
  });
});

it('a file that was deleted comes back, with its folder; one that was changed stays', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { paths, read, port, discovery } = await announce();
  rmSync(paths.lock);
  rmSync(join(discovery.temporaryFolder, 'gemini'), { recursive: true });
  writeFileSync(paths.specified, '{}');
  vi.advanceTimersByTime(2_000);
  expect(read(paths.lock)).toMatchObject({ port });
  expect(read(paths.gemini)).toMatchObject({ port });
  expect(read(paths.specified)).toEqual({});
});

it('new roots are announced in the same files, and a CLI stays connected', async () => {
  const { companion, paths, read } = await announce();
  const { client } = await connect(companion);
  companion.setRoots(['/one', '/two']);
  expect(read(paths.gemini).workspacePath).toBe('/one:/two');
  expect(read(paths.lock).workspacePath).toBe('/one:/two');
  expect(companion.environment['QWEN_CODE_IDE_WORKSPACE_PATH']).toBe('/one:/two');
  expect(() => companion.setRoots(['/one', 'two'])).toThrow('two is no absolute path.');
  await expect(client.ping()).resolves.toEqual({});
});

it('a root that holds the delimiter is written as each family reads it', async () => {
  const { paths, read } = await announce(['/a:b', '/100%20']);
  expect(read(paths.gemini).workspacePath).toBe('/a%3Ab:/100%20');
  expect(read(paths.lock).workspacePath).toBe('["/a:b","/100%20"]');
});

it('at the end it removes its own files, and no others', async () => {
  const { companion, paths } = await announce();
  const other = join(dirname(paths.gemini), 'gemini-ide-server-1-2.json');
  writeFileSync(other, '{}');
  writeFileSync(paths.lock, '{"port":1}');
  await companion.close();
  expect(Object.values(paths).filter(existsSync)).toEqual([paths.lock]);
  expect(existsSync(other)).toBe(true);
});

it('files of a companion that was killed are removed by their text', async () => {
  const { companion, paths } = await announce();
  const texts = companion.discoveryFiles;
  removeLeftover({ ...texts, [paths.lock]: 'another text', '/no/such/file': '' });
  expect(Object.values(paths).filter(existsSync)).toEqual([paths.lock]);
});

it.each([
  ['a link', (path: string) => symlinkSync(dirname(path), path), 'is no folder'],
  ['a file', (path: string) => writeFileSync(path, ''), 'is no folder'],
  [
    'a folder that others may write to',
    (path: string) => {
      mkdirSync(path);
      chmodSync(path, 0o777);
    },
    'other users may write to',
  ],
])('%s in the place of a folder is refused: the other family is found', async (_, make, reason) => {
  const discovery = newPlace();
  const refused = join(discovery.temporaryFolder, 'gemini');
  make(refused);
  const { companion } = await startCompanion({ discovery });
  expect(companion.problems).toEqual([expect.stringContaining(reason)]);
  expect(companion.problems[0]).toContain(refused);
  expect(readdirSync(join(discovery.qwenFolder, 'ide'))).toEqual([`${companion.port}.lock`]);
  await connect(companion, { family: 'qwen' });
});

it.runIf(process.getuid?.() === 0)('a folder of another user is refused', async () => {
  const discovery = newPlace();
  const refused = join(discovery.temporaryFolder, 'gemini');
  mkdirSync(refused);
  chownSync(refused, 12_345, 12_345);
  const { companion } = await startCompanion({ discovery });
  expect(companion.problems).toEqual([
    expect.stringContaining(`${refused} belongs to another user.`),
  ]);
  expect(readdirSync(refused)).toEqual([]);
});

it('without a home folder there is no lock, and it says so', async () => {
  const discovery = { ...newPlace(), qwenFolder: '/no/such/home/.qwen' };
  const { companion } = await startCompanion({ discovery });
  expect(companion.problems).toEqual([expect.stringContaining('/no/such/home does not exist.')]);
});

it.each(['', 'relative', 'absolute'])(
  'writes where the CLIs of this user look, with a QWEN_HOME that is %j',
  async (kind) => {
    const { qwenFolder, temporaryFolder } = newPlace();
    const home = dirname(qwenFolder);
    const qwenHome = kind === 'absolute' ? join(home, 'elsewhere') : kind;
    const environment = { HOME: home, TMPDIR: temporaryFolder, QWEN_HOME: qwenHome };
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const companion = await CompanionServer.start({
      roots: [],
      ide: { name: 'vim', displayName: 'Vim' },
      onDiff: async () => ({ decision: 'rejected' }),
    });
    onTestFinished(() => companion.close());
    const { port } = companion;
    expect(Object.keys(companion.discoveryFiles)).toEqual([
      join(temporaryFolder, 'gemini', 'ide', `gemini-ide-server-${process.pid}-${port}.json`),
      join(kind === 'absolute' ? qwenHome : qwenFolder, 'ide', `${port}.lock`),
      join(temporaryFolder, 'qwen', 'ide', `qwen-code-ide-server-${process.pid}-${port}.json`),
    ]);
    expect(companion.problems).toEqual([]);
  },
);

it.each([
  ['vim', ['gemini', 'qwen']],
  ['drawbridge', []],
])('a bridge that looks for its editor finds the companion of %s as %j', async (name, families) => {
  const { companion, discovery, root } = await startCompanion({
    ide: { name, displayName: 'An editor' },
  });
  const place = {
    workspace: root,
    environment: companion.environment,
    home: dirname(discovery.qwenFolder),
    temporaryFolders: [discovery.temporaryFolder],
    platform: process.platform,
    pid: process.pid,
    userId: process.getuid?.(),
    isInContainer: false,
  };
  const { ranked, passedOver } = await discover(place, new AbortController().signal);
  const port = companion.port;
  expect(ranked.map(({ family }) => family).toSorted()).toEqual(families);
  for (const { family, ...candidate } of ranked)
    expect(candidate).toMatchObject({ port, roots: [root], token: tokenOf(companion, family) });
  const isOwn = passedOver.some(({ why }) => why.includes("Drawbridge's own companion"));
  expect(isOwn).toBe(name === 'drawbridge');
});
