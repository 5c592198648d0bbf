import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { RULE_READ_LIMITS } from '../../../bridge/rules/limits.ts';
import { type RuleLook, Rules } from '../../../bridge/rules/rules.ts';
import { logTo } from '../../../machine/log.ts';
import * as files from '../../../packages/workspace/files.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { RULE_FILE_LIMITS } from '../../../shared/limits.ts';
import { MINUTE, SECOND } from '../../../shared/units.ts';
import { RuleSet } from '../../../shared/wire/rules.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryFolder, temporaryWorkspace } from '../tools/temporary-workspace.ts';

keepFoldersInMemory();

const signal = new AbortController().signal;

it('sends the rules in one order: the owner, the root, .cursor/rules, then nested files', async () => {
  const { look, owners } = await rulesOf({
    'CLAUDE.md': 'claude',
    'AGENTS.md': 'agents',
    'GEMINI.md': 'gemini',
    '.cursorrules': 'old',
    '.cursor/rules/b.mdc': '---\nglobs: *.ts\n---\nb',
    '.cursor/rules/a.mdc': '---\nalwaysApply: true\n---\na',
    '.cursor/rules/deep/c.mdc': '---\ndescription: About c\n---\nc',
    '.cursor/rules/notes.md': 'no rule',
    'web/AGENTS.md': 'web',
    'web/.cursor/rules/w.mdc': '---\nalwaysApply: true\n---\nw',
    'web/.cursor/rules/g.mdc': '---\nglobs: *.css\n---\ng',
    'web/app/CLAUDE.md': 'app',
    'web/.cursorrules': 'no rule',
    'docs/page.mdc': 'no rule',
  });
  await owners('mine');
  const { files: found, leftOut } = await look();
  expect(found.map(({ path, kind, folder, text }) => [path, kind, folder, text])).toEqual([
    ['rules.md', 'always', '.', 'mine'],
    ['AGENTS.md', 'always', '.', 'agents'],
    ['CLAUDE.md', 'always', '.', 'claude'],
    ['GEMINI.md', 'always', '.', 'gemini'],
    ['.cursorrules', 'always', '.', 'old'],
    ['.cursor/rules/a.mdc', 'always', '.', 'a'],
    ['.cursor/rules/b.mdc', 'glob', '.', 'b'],
    ['.cursor/rules/deep/c.mdc', 'description', '.', 'c'],
    ['web/.cursor/rules/g.mdc', 'glob', 'web', 'g'],
    ['web/.cursor/rules/w.mdc', 'folder', 'web', 'w'],
    ['web/AGENTS.md', 'folder', 'web', 'web'],
    ['web/app/CLAUDE.md', 'folder', 'web/app', 'app'],
  ]);
  expect(found.map(({ origin }) => origin)).toEqual(['owner', ...Array(11).fill('workspace')]);
  expect(leftOut).toEqual([]);
});

it('reads the rules of the root where git ignores them, and none of an ignored folder', async () => {
  const { look } = await rulesOf({
    '.gitignore': '.cursor\nAGENTS.md\nnode_modules\n',
    '.cursor/rules/a.mdc': 'a',
    'AGENTS.md': 'agents',
    'node_modules/x/AGENTS.md': 'not ours',
    'node_modules/x/.cursor/rules/y.mdc': 'not ours',
  });
  expect((await look()).files.map(({ path }) => path)).toEqual([
    'AGENTS.md',
    '.cursor/rules/a.mdc',
  ]);
});

it('leaves out what is no sound text file of the workspace, and says why', async () => {
  const { root, look } = await rulesOf({
    'GEMINI.md': 'same',
    'AGENTS.md': 'same',
    '.cursor/rules/large.mdc': 'x'.repeat(RULE_READ_LIMITS.maxFileBytes + 1),
    '.cursor/rules/binary.mdc': 'a\0b',
    '.cursor/rules/empty.mdc': '',
    '.cursor/rules/broken.mdc': '---\nalwaysApply: true\nfine',
  });
  const outside = join(await temporaryFolder(), 'outside.md');
  await writeFile(outside, 'secret');
  await symlink(outside, join(root, '.cursor/rules/link.mdc'));
  await symlink('AGENTS.md', join(root, 'CLAUDE.md'));
  await symlink('nowhere', join(root, '.cursor/rules/dangling.mdc'));
  execFileSync('mkfifo', [join(root, '.cursorrules'), join(root, '.cursor/rules/pipe.mdc')]);
  const { files: found, leftOut } = await look();
  expect(found.map(({ path, kind, notes }) => [path, kind, notes])).toEqual([
    ['AGENTS.md', 'always', undefined],
    ['.cursor/rules/broken.mdc', 'manual', [expect.stringContaining('has no end')]],
  ]);
  expect(Object.fromEntries(leftOut.map(({ path, reason }) => [path, reason]))).toEqual({
    'CLAUDE.md': 'AGENTS.md is the same',
    'GEMINI.md': 'AGENTS.md is the same',
    '.cursorrules': 'it is no regular file',
    '.cursor/rules/binary.mdc': 'it is no text',
    '.cursor/rules/dangling.mdc': 'it is no regular file',
    '.cursor/rules/empty.mdc': 'it is empty',
    '.cursor/rules/large.mdc': 'it is larger than 256 KiB',
    '.cursor/rules/link.mdc': 'it leads outside the workspace',
    '.cursor/rules/pipe.mdc': 'it is no regular file',
  });
});

it('logs what cannot be used as it is, once, and again after a change', async () => {
  const { root, look } = await rulesOf({
    'AGENTS.md': 'same',
    'CLAUDE.md': 'same',
    '.cursor/rules/broken.mdc': '---\nalwaysApply: true\nfine',
    '.cursor/rules/large.mdc': 'x'.repeat(RULE_READ_LIMITS.maxFileBytes + 1),
    '.cursor/rules/hidden.mdc': '---\nhidden',
  });
  const lines: (string | null)[] = [];
  const seen = () =>
    logTo(
      (_, line) => void lines.push(line),
      () => look({ mayName: (path) => !path.includes('hidden') }),
    );
  await seen();
  await seen();
  expect(lines.sort()).toEqual([
    '.cursor/rules/broken.mdc: its head, which begins with ---, has no end, so only @name applies it',
    '.cursor/rules/large.mdc: it is larger than 256 KiB',
  ]);
  await writeFile(join(root, '.cursor/rules/broken.mdc'), '---\nalwaysApply: yes\n---\nfine');
  await seen();
  expect(lines.slice(2)).toEqual([
    '.cursor/rules/broken.mdc: alwaysApply in its head is neither true nor false, so only @name applies it',
  ]);
});

it('sends nothing of a path that the policy hides, and no text of one that it closes', async () => {
  const { look } = await rulesOf({
    'AGENTS.md': 'see @docs/closed.md and @docs/hidden.md',
    '.cursor/rules/closed.mdc': 'closed',
    '.cursor/rules/hidden.mdc': 'hidden',
    'docs/closed.md': 'closed text',
    'docs/hidden.md': 'hidden text',
  });
  const rules = await look({
    mayName: (path) => !path.includes('hidden'),
    mayRead: (path) => !path.includes('closed'),
  });
  expect(rules.files.map(({ path, text }) => [path, text])).toEqual([
    ['AGENTS.md', 'see @docs/closed.md and @docs/hidden.md'],
  ]);
  expect(rules.leftOut).toEqual([
    { path: '.cursor/rules/closed.mdc', reason: "the machine's policy does not let it be read" },
  ]);
});

it('includes the files that a rule names, each once, and says what it could not include', async () => {
  const { root, look } = await rulesOf({
    '.cursor/rules/a.mdc':
      '---\nalwaysApply: true\n---\nRead @beside.md, @docs/one.md. Mail ada@docs/one.md, use @types/node.\n' +
      '`@docs/code.md` @docs/missing.md @../../../outside.md @docs/.env',
    '.cursor/rules/beside.md': 'beside',
    'docs/one.md': 'one @two.md',
    'docs/two.md': 'two @one.md @three.md',
    'docs/three.md': 'three @four.md',
    'docs/four.md': 'four',
    'docs/code.md': 'code',
    'docs/.env': 'KEY=1',
  });
  await writeFile(join(root, '..', 'outside.md'), 'outside');
  const [rule] = (await look()).files;
  expect(rule?.text).toMatch(
    /^Read @beside[\s\S]*\n\nFrom \.cursor\/rules\/beside\.md:\nbeside\n\n/,
  );
  const included = [...(rule?.text ?? '').matchAll(/^From (.*):$/gm)].map(([, name]) => name);
  expect(included).toEqual([
    '.cursor/rules/beside.md',
    'docs/one.md',
    'docs/two.md',
    'docs/three.md',
  ]);
  expect(rule?.text).not.toMatch(/KEY=1|^outside$|^code$/m);
  expect(rule?.notes).toEqual([
    '@docs/missing.md does not exist',
    '@docs/.env is not included: it may hold secrets, or an ignore file closes it',
    '@four.md is not included: too many files include each other',
  ]);
});

it('cuts a long rule, and the rules that are too long together, with those that always apply last', async () => {
  const line = `${'word '.repeat(20)}\n`;
  const long = (name: string) => `${name}\n${line.repeat(400)}`;
  const { look } = await rulesOf(
    Object.fromEntries([
      ...['a', 'b', 'c', 'd'].map((name) => [`.cursor/rules/${name}.mdc`, long(name)]),
      ['.cursor/rules/z.mdc', `---\nalwaysApply: true\n---\n${long('z')}`],
    ]),
  );
  const rules = await look();
  expect(RuleSet.parse(rules)).toEqual(rules);
  expect(rules.files.map(({ path }) => path.at(-5))).toEqual(['a', 'b', 'c', 'd', 'z']);
  expect(rules.files.at(-1)?.text).toMatch(
    /^z\n[\s\S]*word \n\.\.\. \(cut: [\d,]+ more characters, they are in .cursor\/rules\/z.mdc\)$/,
  );
  expect(rules.files.at(-1)?.notes).toEqual([expect.stringMatching(/^only \d+ of 40400 char/)]);
  const lengths = rules.files.map(({ text }) => text.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(RULE_FILE_LIMITS.maxRuleChars);
  expect(lengths[3]).toBeLessThan(line.length * 10);
});

it('reads a file again only when it has changed', async () => {
  const { root, look } = await rulesOf({ 'AGENTS.md': 'one @more.md', 'more.md': 'more' });
  const reading = vi.spyOn(files, 'readPart');
  const seen = await look();
  expect(reading).toHaveBeenCalledTimes(2);
  expect(await look()).toEqual(seen);
  expect(reading).toHaveBeenCalledTimes(2);
  await writeFile(join(root, 'more.md'), 'else');
  await utimes(join(root, 'more.md'), 1, 1);
  expect((await look()).files[0]?.text).toBe('one @more.md\n\nFrom more.md:\nelse');
  await rm(join(root, 'AGENTS.md'));
  expect((await look()).files).toEqual([]);
});

it('looks at a bounded number of files, however many there are and are named', async () => {
  const { maxCandidates, maxIncluded, maxReferences } = RULE_READ_LIMITS;
  const { maxFiles } = RULE_FILE_LIMITS;
  const named = (rule: number) =>
    Array.from({ length: maxReferences }, (_, index) => `@docs/${rule}-${index}.md`).join(' ');
  const { look } = await rulesOf(
    Object.fromEntries(
      Array.from({ length: maxCandidates + 1 }, (_, rule) => [
        `.cursor/rules/${rule}.mdc`,
        `${rule} ${named(rule)}`,
      ]),
    ),
  );
  const stamps = vi.spyOn(files, 'readStamp');
  const resolved = vi.spyOn(Workspace.prototype, 'resolve');
  // On a busy machine a look may run out of its time, and still be reading beside the next one.
  const rules = await vi.waitFor(
    async () => {
      stamps.mockClear();
      resolved.mockClear();
      return await look();
    },
    { timeout: 2 * MINUTE, interval: 2 * SECOND },
  );
  expect(rules.files).toHaveLength(maxFiles);
  expect(rules.files.at(-1)?.notes?.[0]).toContain('the rules include too many files');
  expect(rules.leftOut).toHaveLength(RULE_FILE_LIMITS.maxLeftOut);
  expect(rules.leftOut[0]?.reason).toBe('5 more rule files are not read');
  const readPaths = new Set(stamps.mock.calls.map(([{ path }]) => path));
  expect(readPaths.size).toBeLessThanOrEqual(maxCandidates + maxIncluded);
  const askedNames = new Set(resolved.mock.calls.map(([name]) => name));
  expect(askedNames.size).toBeLessThanOrEqual(maxCandidates + maxIncluded + 2);
});

it('reads a reference that is long on purpose', async () => {
  const dots = '.'.repeat(100_000);
  const { look } = await rulesOf({
    'AGENTS.md': `@a${dots}b @docs/one.md${dots}`,
    'docs/one.md': 'One.',
  });
  const [rule] = (await look()).files;
  expect(rule?.text).toMatch(/^@a/);
  expect(rule?.notes).toEqual([
    expect.stringMatching(/^@a\.{200,}/),
    expect.stringContaining('characters are sent'),
  ]);
});

it('leaves out an owner’s file that is a folder', async () => {
  const { stateDir, look } = await rulesOf({ 'AGENTS.md': 'agents' });
  await mkdir(join(stateDir, 'rules.md'));
  expect(await look()).toMatchObject({
    files: [{ path: 'AGENTS.md' }],
    leftOut: [{ path: 'rules.md' }],
  });
});

it('reads the owner’s rules for all projects before those for this one', async () => {
  const { configDir, owners, look } = await rulesOf({});
  await owners('Of this one.\n');
  await writeFile(join(configDir, 'rules.md'), '\nOf all.\n');
  const [owner] = (await look()).files;
  expect(owner?.text).toBe('Of all.\n\nOf this one.');
  await chmod(join(configDir, 'rules.md'), 0o666);
  expect(await look()).toMatchObject({
    files: [{ path: 'rules.md', text: 'Of this one.' }],
    leftOut: [{ path: 'rules.md', reason: expect.stringContaining('other users may change it') }],
  });
});

async function rulesOf(contents: Readonly<Record<string, string>>) {
  const { root, context } = await temporaryWorkspace(contents);
  const stateDir = await temporaryFolder();
  const configDir = await temporaryFolder();
  const rules = new Rules(context.workspace, [configDir, stateDir]);
  return {
    root,
    stateDir,
    configDir,
    owners: (text: string) => writeFile(join(stateDir, 'rules.md'), text),
    look: async (seen: Partial<RuleLook> = {}) => {
      const found = await rules.look({ mayName: () => true, mayRead: () => true, signal, ...seen });
      return found ?? expect.unreachable('no rules in time');
    },
  };
}
