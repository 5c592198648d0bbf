import { execFile } from 'node:child_process';
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { judgeCommand } from '../../../bridge/admission/command-verdict.ts';
import { runTerminalCmd } from '../../../shared/tools/run-terminal-cmd.ts';
import { deep } from '../../depth.ts';
import { randomFrom } from '../checkpoints/random.ts';

const LINES = deep(1_000);

/** What is deleted where nobody is asked, as a real Bash deletes it. */
test('generated lines delete nothing but what the verdict has looked at', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [model, cwd] = [join(folder, 'model'), join(folder, 'a/b/cwd')];
  for (const name of ['a', 'b', 'a b', '-x', 'd/a', 'd/e/b', "it's", '$v', '*', 'xa', '~'])
    await put(join(model, name));
  await symlink('d', join(model, 'l'));
  let silent = 0;
  let deleted = 0;
  for (let seed = 1; seed <= LINES; seed++) {
    const line = lineFrom(seed);
    await rm(join(folder, 'a'), { recursive: true, force: true });
    await cp(model, cwd, { recursive: true, verbatimSymlinks: true });
    const looked: string[] = [];
    const surroundings = {
      isConfined: true,
      canRestore: (path: string) => {
        looked.push(resolve(cwd, path));
        return !isBehindLink(resolve(cwd, path));
      },
    };
    const book = { userRules: [], workspaceRules: [] };
    const { decision } = judgeCommand({ tool: runTerminalCmd, command: line }, book, surroundings);
    if (decision !== 'allow') continue;
    silent++;
    const before = await filesIn(folder);
    const env = { PATH: process.env['PATH'], HOME: join(cwd, 'd'), v: 'a' };
    await promisify(execFile)('bash', ['-c', line], { cwd, env }).catch(() => {});
    const after = new Set(await filesIn(folder));
    const gone = before.filter((path) => !after.has(path));
    deleted += gone.length;
    const isLookedAt = (path: string) =>
      looked.some((place) => path === place || path.startsWith(`${place}/`));
    expect(
      gone.filter((path) => !isLookedAt(path)),
      `${seed}: ${line}`,
    ).toEqual([]);
  }
  expect([silent > LINES / 20, deleted > LINES / 40], `${silent}, ${deleted}`).toEqual([
    true,
    true,
  ]);
});

async function put(path: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, 'text\n');
}

/** No undo brings back what is behind a link. */
function isBehindLink(path: string): boolean {
  const folder = dirname(path);
  if (existsSync(folder) && realpathSync(folder) !== folder) return true;
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Links by their own names. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

function lineFrom(seed: number): string {
  const { random, pick } = randomFrom(seed);
  const some = <Value>(values: readonly Value[], most: number) =>
    Array.from({ length: random(most + 1) }, () => pick(values));
  const command = () =>
    random(4) === 0
      ? pick(OTHERS)
      : [pick(NAMES), ...some(OPTIONS, 2), ...some(OPERANDS, 2), pick(OPERANDS)].join(
          pick([' ', '  ', '\t']),
        );
  const rest = Array.from({ length: random(3) }, () => `${pick(JOINERS)}${command()}`);
  return `${random(8) === 0 ? pick(['! ', 'v=b ', '{ ', 'time ']) : ''}${command()}${rest.join('')}`;
}

const NAMES = [
  'rm',
  'rm',
  'rm',
  'unlink',
  '/bin/rm',
  '\\rm',
  "'rm'",
  'command rm',
  'r""m',
  'rmdir',
];
const OPTIONS = [
  '-f',
  '-r',
  '-rf',
  '--',
  '-i',
  '--force',
  '--recursive',
  '-d',
  '-v',
  '--no-preserve-root',
  '-x',
];
const OPERANDS = [
  ...['a', 'b', 'd', 'd/a', './a', 'd/../b', 'l', 'l/a', 'l/', 'd/e/', 'missing', '-x', './-x'],
  ...['"a b"', "'a b'", 'a\\ b', 'a b', '"it\'s"', "it\\'s", "'$v'", '$v', '"$v"', '${v}', '\\$v'],
  ...[
    '*',
    "'*'",
    '\\*',
    '?',
    '[ab]',
    '{a,b}',
    'd/*',
    '~',
    '~/a',
    "'~'",
    '""',
    '$(echo a)',
    '`echo a`',
  ],
  ...[
    "$'a'",
    '"a"b',
    'a#b',
    '#a',
    '!a',
    'a>b',
    '2>/dev/null',
    '<a',
    'a;',
    'x{a,}',
    '"d"/a',
    "d'/'a",
  ],
];
const OTHERS = [
  'cd d',
  'cd ..',
  'true',
  'echo a',
  'mkdir e',
  'ln -sf d a',
  'export v=b',
  'set -f',
  'shopt -s extglob',
  'alias rm=echo',
];
const JOINERS = [' && ', '; ', ' | ', ' || ', ' & ', '\n', ';', '&&', ' |& '];
