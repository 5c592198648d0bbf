import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { placesOf } from '../../../bridge/skills/places.ts';
import { type SkillCaller, Skills } from '../../../bridge/skills/skills.ts';
import { SKILL_LIMITS } from '../../../shared/limits.ts';
import { SkillSet } from '../../../shared/wire/skills.ts';
import { keepFoldersInMemory } from '../../in-memory.ts';
import { temporaryFolder, temporaryWorkspace } from '../tools/temporary-workspace.ts';

keepFoldersInMemory();

const { signal } = new AbortController();
const PERSON: SkillCaller = { as: 'person', isOwners: true };
const MODEL: SkillCaller = { as: 'model', isOwners: true };

it('finds skills and commands in all places, of the workspace and of the owner', async () => {
  const { look } = await skillsOf({
    '.drawbridge/skills/one/SKILL.md': skill('one'),
    '.agents/skills/group/two/SKILL.md': skill('two', 'argument-hint: "[file]"'),
    '.claude/skills/three/SKILL.md': '---\nname: Third\n---\n# Heading\n\nDo it.',
    '.claude/skills/group/deep/SKILL.md': skill('deep'),
    '.claude/commands/git/sync.md': 'Fetch, then rebase.',
    '.cursor/commands/tidy.md': '---\n# not a head\nTidy up.',
    '~/.claude/skills/four/SKILL.md': skill('four', 'allowed-tools: Bash(git:*) Read'),
    '~/.agents/skills/five/SKILL.md': skill('five', 'disable-model-invocation: true'),
    '~/.cursor/commands/mine.md': 'Mine.',
    '~/.config/drawbridge/skills/six/SKILL.md': skill('six', 'user-invocable: false'),
  });
  const { skills, leftOut } = await look();
  expect(leftOut).toEqual([]);
  expect(skills.map(({ name, path, callers, origin }) => [name, path, callers, origin])).toEqual([
    ['one', '.drawbridge/skills/one/SKILL.md', 'anyone', 'workspace'],
    ['two', '.agents/skills/group/two/SKILL.md', 'anyone', 'workspace'],
    ['four', '~/.claude/skills/four/SKILL.md', 'anyone', 'owner'],
    ['three', '.claude/skills/three/SKILL.md', 'anyone', 'workspace'],
    ['six', '~/.config/drawbridge/skills/six/SKILL.md', 'model', 'owner'],
    ['five', '~/.agents/skills/five/SKILL.md', 'person', 'owner'],
    ['git:sync', '.claude/commands/git/sync.md', 'person', 'workspace'],
    ['tidy', '.cursor/commands/tidy.md', 'person', 'workspace'],
    ['mine', '~/.cursor/commands/mine.md', 'person', 'owner'],
  ]);
  const byName = new Map(skills.map((one) => [one.name, one]));
  expect(byName.get('two')).toMatchObject({ description: 'About two', takes: '[file]' });
  expect(byName.get('three')).toMatchObject({
    description: 'Heading',
    note: 'its head has the name Third',
  });
  expect(byName.get('four')).toMatchObject({ tools: 'Bash(git:*) Read' });
});

it.each([
  ['.agents/skills/x/SKILL.md', '~/.agents/skills/x/SKILL.md'],
  ['.drawbridge/skills/x/SKILL.md', '.agents/skills/x/SKILL.md'],
  ['~/.claude/skills/x/SKILL.md', '.claude/skills/x/SKILL.md'],
  ['.claude/skills/x/SKILL.md', '.claude/commands/x.md'],
  ['~/.claude/commands/x.md', '.claude/commands/x.md'],
  ['.cursor/commands/x.md', '~/.cursor/commands/x.md'],
])('of two with one name %s counts, and %s is shown as left out', async (first, second) => {
  const { look } = await skillsOf({ [second]: skill('x'), [first]: skill('x') });
  expect(await look()).toMatchObject({
    skills: [{ name: 'x', path: first }],
    leftOut: [{ path: second, reason: `${first} has the same name` }],
  });
});

it.each([
  ['no description', '---\nname: x\n---\nText', 'its head has no description'],
  [
    'a broken head',
    '---\ndescription: a\n\t- : [\n"\n---\nText',
    'line 4 of its head is no "key: value"',
  ],
  [
    'a head without an end',
    '---\ndescription: a\nText',
    'its head, which begins with ---, has no end',
  ],
  ['no text', '---\ndescription: a\n---\n', 'it is empty'],
  [
    'ten megabytes',
    `---\ndescription: a\n---\n${'x'.repeat(10_000_000)}`,
    'it is larger than 256 KiB',
  ],
  ['no text but bytes', '---\ndescription: a\n---\n\0', 'it is no text'],
  [
    'no caller',
    skill('x', 'user-invocable: false\ndisable-model-invocation: true'),
    'its head lets neither the model nor a person call it',
  ],
])('a skill with %s is left out with its reason', async (_, text, reason) => {
  const { look } = await skillsOf({ '.agents/skills/x/SKILL.md': text });
  const path = '.agents/skills/x/SKILL.md';
  expect(await look()).toEqual({ skills: [], leftOut: [{ path, reason }] });
});

it('links, pipes and what the policy hides lead nowhere, and a link within the workspace counts', async () => {
  const { look, root, secret } = await skillsOf({
    'tools/linked/SKILL.md': skill('linked'),
    '.agents/skills/out/README.md': 'x',
    '.agents/skills/hidden/SKILL.md': skill('hidden'),
    '.claude/skills/plain.md': 'no folder',
  });
  const at = (name: string) => join(root, name);
  await symlink(secret, at('.agents/skills/out/SKILL.md'));
  await symlink(dirname(secret), at('.agents/skills/away'));
  await symlink('../../tools/linked', at('.agents/skills/linked'));
  await symlink('../nothing', at('.agents/skills/dangling'));
  await mkdir(at('.agents/skills/pipe'));
  execFileSync('mkfifo', [at('.agents/skills/pipe/SKILL.md')]);
  const { skills, leftOut } = await look((path) => !path.includes('hidden'));
  expect(skills.map(({ name }) => name)).toEqual(['linked']);
  expect(leftOut).toEqual([
    { path: '.agents/skills/away/SKILL.md', reason: 'it leads outside the workspace' },
    { path: '.agents/skills/dangling/SKILL.md', reason: 'it cannot be read' },
    { path: '.agents/skills/out/SKILL.md', reason: 'it leads outside the workspace' },
    { path: '.agents/skills/pipe/SKILL.md', reason: 'it is no regular file' },
  ]);
});

it('gives the text with the words behind the name, the files beside it, and no output of commands', async () => {
  const { skills, look } = await skillsOf({
    '.claude/skills/fix/SKILL.md': `${skill('fix')} $0 in $ARGUMENTS: !\`date\``,
    '.claude/skills/fix/references/a.md': 'More.',
    '.claude/commands/go.md': 'Go to $ARGUMENTS.',
  });
  await look();
  const given = await skills.content({ name: 'fix', args: 'a.ts now' }, MODEL, ALL);
  expect(given?.text).toBe(
    '.claude/skills/fix/SKILL.md\n\nText of fix. a.ts in a.ts now: !`date`\n\n' +
      'Files of the skill, for read_file: .claude/skills/fix/references/a.md\n' +
      'No command in !`…` was run for this text. Run one yourself if you need its output.',
  );
  const command = { name: 'go', args: 'home' };
  expect(await skills.content(command, MODEL, ALL)).toBeUndefined();
  expect((await skills.content(command, PERSON, ALL))?.text).toBe(
    '.claude/commands/go.md\n\nGo to home.',
  );
});

it("an owner's skill gives the files of its own folder by its name, and nothing else", async () => {
  const { skills, home, secret } = await skillsOf({
    '~/.agents/skills/own/SKILL.md': skill('own'),
    '~/.agents/skills/own/refs/a.md': 'More.',
    '~/.agents/skills/own/.env': 'KEY=1',
  });
  await symlink(secret, join(home, '.agents/skills/own/refs/link.md'));
  const read = (file: string, caller = MODEL) => skills.file({ name: 'own', file }, caller, ALL);
  expect((await skills.content({ name: 'own', args: '' }, MODEL, ALL))?.text).toContain(
    'Files of the skill, for activate_skill with name own and file: .env, refs/a.md, refs/link.md',
  );
  expect(await read('refs/a.md')).toBe('More.');
  for (const file of ['../../../secret.txt', 'refs/link.md', '.env', '/etc/passwd', 'none.md']) {
    await expect(read(file)).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  }
  const stranger: SkillCaller = { as: 'model', isOwners: false };
  await expect(read('refs/a.md', stranger)).rejects.toMatchObject({ code: 'NO_SUCH_SKILL' });
});

it('one folder that is linked to another has each skill once', async () => {
  const { look, root } = await skillsOf({ 'skills/one/SKILL.md': skill('one') });
  for (const folder of ['.agents', '.claude']) {
    await mkdir(join(root, folder));
    await symlink('../skills', join(root, folder, 'skills'));
  }
  expect(await look()).toMatchObject({
    skills: [{ path: '.agents/skills/one/SKILL.md' }],
    leftOut: [],
  });
});

it('an owner may link a skill from elsewhere', async () => {
  const { look, home } = await skillsOf({ '~/dots/mine/SKILL.md': skill('mine') });
  await mkdir(join(home, '.claude/skills'), { recursive: true });
  await symlink(join(home, 'dots/mine'), join(home, '.claude/skills/mine'));
  expect((await look()).skills).toMatchObject([{ name: 'mine' }]);
});

it('descriptions and numbers are bounded', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 250 }, (_, at) => [
      `.agents/skills/s${at}/SKILL.md`,
      `---\ndescription: ${at % 2 ? 'word '.repeat(500) : '説'.repeat(900)}\n---\nText`,
    ]),
  );
  const { look } = await skillsOf(many);
  const found = await look();
  expect(SkillSet.parse(found)).toEqual(found);
  expect(found.skills).toHaveLength(SKILL_LIMITS.maxSkills);
  const [english, other] = ['s1', 's0'].map(
    (name) => found.skills.find((one) => one.name === name)?.description.length ?? 0,
  );
  expect(english).toBeGreaterThan(300);
  expect(english).toBeLessThanOrEqual(400);
  expect(other).toBeLessThanOrEqual(100);
});

const ALL = { mayName: () => true, mayRead: () => true, signal };

function skill(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: About ${name}\n${more}${more && '\n'}---\nText of ${name}.`;
}

/** Skills of a folder and of a home folder (`~/`), with a file that none may reach. */
async function skillsOf(files: Readonly<Record<string, string>>) {
  const { root, context } = await temporaryWorkspace();
  const home = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    const path = name.startsWith('~/') ? join(home, name.slice(2)) : join(root, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const secret = join(home, 'secret.txt');
  await writeFile(secret, 'Secret.');
  const skills = new Skills(context.workspace, placesOf(join(home, '.config/drawbridge'), home));
  const look = async (mayRead: (path: string) => boolean = () => true) => {
    const found = await skills.look({ mayName: () => true, mayRead, signal });
    if (!found) throw new Error('the disk did not answer');
    return found;
  };
  return { skills, look, root, home, secret };
}
