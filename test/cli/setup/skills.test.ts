import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { newPlace } from '../drawbridge.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';

const HOOK = { type: 'command', command: './check.sh' };

function newFolder(files: Readonly<Record<string, string>>) {
  const { workspaceDir, stateDir } = newPlace();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspaceDir, name)), { recursive: true });
    writeFileSync(join(workspaceDir, name), text);
  }
  const [config, home] = [temporaryFolder(), temporaryFolder()];
  const where = ['--workspace', workspaceDir, '--state', stateDir];
  const env = { XDG_CONFIG_HOME: config, HOME: home };
  const run = (...args: string[]) => callDrawbridge([...args, ...where], { env });
  return Object.assign(run, { stateDir, workspaceDir, where, env });
}

test('skills lists skills and commands with their files, and what was left out and why', async () => {
  const run = newFolder({
    '.agents/skills/fix/SKILL.md':
      '---\nname: fix\ndescription: Fixes it\nallowed-tools: Bash\nargument-hint: ISSUE\n---\nFix.',
    '.claude/skills/fix/SKILL.md': '---\ndescription: Another\n---\nFix.',
    '.agents/skills/bad/SKILL.md': '---\nname: bad\n---\nNo description.',
    '.claude/commands/go.md': 'Go.\u001b[31m',
  });
  expect((await run('skills')).stdout).toBe(
    'skill  /fix ISSUE  .agents/skills/fix/SKILL.md  Fixes it  asks for Bash, which has no effect\n' +
      'command  /go  .claude/commands/go.md  Go.\\u{1b}[31m\n' +
      'left out  .agents/skills/bad/SKILL.md: its head has no description\n' +
      'left out  .claude/skills/fix/SKILL.md: .agents/skills/fix/SKILL.md has the same name\n',
  );
  const { skills, leftOut } = JSON.parse((await run('skills', '--json')).stdout);
  expect([skills.length, leftOut.length]).toEqual([2, 2]);
});

test('hooks lists them, and trusts none without a terminal to ask at', async () => {
  const run = newFolder({
    '.claude/settings.json': JSON.stringify({
      hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [HOOK] }], Stop: [{ hooks: [HOOK] }] },
    }),
    'check.sh': 'exit 0',
  });
  const listed =
    'untrusted  .claude/settings.json  PreToolUse of Bash  ./check.sh  with check.sh\n' +
    'not run   .claude/settings.json  Stop: only hooks before a call (PreToolUse) run\n';
  expect(await run('hooks')).toMatchObject({
    code: 0,
    stdout: listed,
    stderr: expect.stringContaining('hooks trust'),
  });
  expect(await run('hooks', 'trust')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('trust hooks at a terminal of this machine'),
  });
  expect((await run('hooks', 'list')).stdout).toBe(listed);
  expect((await run('skills')).stderr).toContain('hooks` lists them');
});

test.runIf(HAS_TERMINALS)(
  'hooks trust asks once at the terminal; a no changes nothing, and a changed script is told apart',
  async () => {
    const run = newFolder({
      '.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [{ hooks: [HOOK] }] } }),
      'check.sh': 'exit 0',
    });
    const answer = async (key: string) => {
      const words = [process.execPath, DRAWBRIDGE, 'hooks', 'trust', ...run.where];
      const terminal = openPseudoTerminal(words, { env: run.env });
      await terminal.shows('Trust them as they are now? y or n:');
      terminal.type(`${key}\r`);
      return (await terminal.finished).code;
    };
    expect(await answer('n')).toBe(1);
    expect((await run('hooks')).stdout).toMatch(/^untrusted/);
    expect(await answer('y')).toBe(0);
    expect((await run('hooks')).stdout).toMatch(/^trusted .*with check\.sh\n$/);
    writeFileSync(join(run.workspaceDir, 'check.sh'), 'exit 2');
    expect((await run('hooks')).stdout).toMatch(/^untrusted .*\nchanged .*calls that change/);
  },
);

test('a damaged answer about hooks is said, and forget replaces it', async () => {
  const run = newFolder({});
  expect((await run('hooks', 'forget')).stderr).toBe('No hook runs here any more.\n');
  writeFileSync(join(run.stateDir, 'hooks.json'), '{');
  expect(await run('hooks')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /hooks\.json is damaged: `.*drawbridge.* hooks forget` replaces it/,
    ),
  });
  expect((await run('hooks', 'forget')).code).toBe(0);
  expect((await run('hooks')).stderr).toContain('There is no hook.\n');
});

test('a folder without any says so', async () => {
  const run = newFolder({});
  expect((await run('skills')).stderr).toContain('There is no skill and no command.\n');
  expect((await run('hooks')).stderr).toContain('There is no hook.\n');
});
