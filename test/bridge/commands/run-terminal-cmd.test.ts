import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createRunTerminalCmd } from '../../../bridge/commands/run-terminal-cmd.ts';
import type { ToolContext } from '../../../packages/host/tool.ts';
import { unconfined } from '../../../packages/sandbox/launch/confinement.ts';
import { BackgroundProcesses } from '../../../packages/sandbox/terminal/background.ts';
import { guardedWorkspace } from '../../../packages/sandbox/test/quarantine/guarded-workspace.ts';
import { NO_BUBBLEWRAP } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import { TerminalCommandMetadata } from '../../../shared/wire/documents.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import { fewOf } from '../../depth.ts';
import {
  carryOut,
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../tools/temporary-workspace.ts';

const background = new BackgroundProcesses();
afterAll(() => background.endAll());

/** The tool of a bridge without a sandbox. */
function toolIn({ root }: Pick<TemporaryWorkspace, 'root'>, environment = process.env) {
  const folders = { workspace: root, home: root, closedFolders: [], maskFolder: '/tmp/masks' };
  const confinement = unconfined({ ...folders, environment }, 'a test');
  return createRunTerminalCmd({ confinement, background });
}

async function call(
  place: Pick<TemporaryWorkspace, 'root' | 'context'>,
  args: Record<string, unknown>,
  changes: Partial<ToolContext> = {},
): Promise<ToolResult> {
  return await carryOut(toolIn(place), args, { ...place.context, ...changes });
}

/** Calls of one bridge, whose conversations have sessions. */
async function sessionIn({ root, context }: TemporaryWorkspace) {
  const tool = toolIn({ root });
  const propose = async (args: Record<string, unknown>) => {
    const { subjects, paths, propose } = tool.read(args, context.conversationId);
    const places = [await context.workspace.resolve(paths[0] ?? '', 'read')] as const;
    const { proposal, apply } = await propose({ ...context, places });
    return { subjects, proposal, apply: () => apply({ ...context, places }) };
  };
  const run = (args: Record<string, unknown>, conversationId = context.conversationId) =>
    carryOut(tool, args, { ...context, conversationId });
  return Object.assign(run, { propose });
}

/** Lines that write what git keeps. */
const GIT_WRITES = [
  'git commit -m one a.txt',
  'git commit --allow-empty -m one',
  'git add a.txt',
  'git tag one',
  'git branch other',
  'git switch -c other',
  'git stash',
  'git reset --hard HEAD',
  'git rm --cached a.txt',
  'git update-ref refs/heads/x HEAD',
  'git gc',
  'git hash-object -w a.txt',
];

describe('run_terminal_cmd', () => {
  test('reports the exit code, the sandbox and the output, whatever the exit code', async () => {
    const place = await temporaryWorkspace({ 'src/a.txt': 'hello\n' });
    const command = 'cat a.txt; exit 3';
    expect(await call(place, { command, working_directory: 'src' })).toEqual({
      status: 'success',
      data: 'Exit code: 3\nSandbox: none.\nOutput:\nhello\n',
      metadata: {
        command,
        workingDirectory: 'src',
        exitCode: 3,
        output: 'hello\n',
        duration_ms: expect.any(Number),
        permissions: [],
      },
    });
  });

  test('proposes all that decides what a command may do', async () => {
    const { root, context } = await temporaryWorkspace({ 'src/a.txt': '' });
    await symlink('src', join(root, 'link'));
    const propose = async (args: Record<string, unknown>) => {
      const call = toolIn({ root }, {}).read({ command: 'ls', ...args }, 'conv_test');
      const [path = ''] = call.paths;
      const places = [await context.workspace.resolve(path, 'read')] as const;
      return (await call.propose({ ...context, places })).proposal;
    };
    const plain = {
      kind: 'command',
      tool: 'run_terminal_cmd',
      command: 'ls',
      folder: '.',
      permissions: [],
      background: false,
      timeLimitMs: COMMAND_LIMITS.defaultTimeoutMs,
      confinement: 'none',
    };
    const permissions = ['network', 'all', 'network'];
    expect([
      await propose({ explanation: 'why not' }),
      await propose({ permissions, working_directory: 'link', timeout: 7 }),
      await propose({ is_background: true }),
    ]).toEqual([
      plain,
      { ...plain, permissions: ['all', 'network'], folder: 'src', timeLimitMs: 7 },
      { ...plain, background: true, timeLimitMs: null },
    ]);
  });

  test('begins where the last command of its conversation ended, with its variables', async () => {
    const place = await temporaryWorkspace({ 'sub/a.txt': '', 'other/b.txt': '' });
    const call = await sessionIn(place);
    const first = await call({ command: 'cd sub; export GREETING="hi  there" TOKEN=s3cret' });
    expect(first.data).toContain(
      'Your next command starts in sub, with other values of GREETING, TOKEN.',
    );
    const second = await call({ command: 'ls; echo "$GREETING"; unset TOKEN' });
    expect(second).toMatchObject({
      data: expect.stringMatching(
        /It ran in sub, with other values of GREETING, TOKEN\.\n[\s\S]*\na\.txt\nhi {2}there\n$/,
      ),
      metadata: { command: 'ls; echo "$GREETING"; unset TOKEN', workingDirectory: 'sub' },
    });
    const given = await call({ command: 'ls; exit 3', working_directory: 'other' });
    expect(given.data).toContain('b.txt');
    expect((await call({ command: 'ls' }, 'conv_other')).data).toContain('Output:\nother\nsub\n');
    const back = await call({ command: 'cd /; echo "$TOKEN"' });
    expect(back.data).toContain(
      'Your next command starts in the workspace itself, with other values of GREETING.\n' +
        'No command can start in the folder where it ended.',
    );
    expect(back.data).toContain('Output:\n\n');
    expect((await call({ command: 'pwd' })).data).toContain(`Output:\n${place.root}\n`);
  });

  test.each([
    ['export BIG=$(head -c 140000 /dev/zero | tr "\\0" x)', 'No exported variable is kept'],
    ['export BIG=$(head -c 9000 /dev/zero | tr "\\0" x)', 'Not kept for your next command: BIG:'],
    ['export BIG=$(printf "\\377")', 'Not kept for your next command: BIG:'],
    ['ulimit -v 1000', 'No exported variable is kept'],
  ])('takes nothing from later commands after %j, and says what is lost', async (line, said) => {
    const place = await temporaryWorkspace({ 'sub/a.txt': '' });
    const call = await sessionIn(place);
    await call({ command: 'export KEPT=1' });
    const { data } = await call({ command: `cd sub; ${line}` });
    expect(data).toContain(said);
    const later = await call({ command: 'ls; echo "$HOME $KEPT"' });
    expect(later.data).toContain(`Output:\na.txt\n${process.env['HOME']} 1\n`);
  });

  test.each([
    ['export A=1; exit 3', true],
    ['cd sub && exec true', true],
    ['A=1\nexit', true],
    ['if true; then unset HOME; exit; fi', true],
    ['. ./a.sh; kill -9 $$', true],
    ['ulimit -n 3', true],
    ['exit 3', false],
    ['command export A=4; exec true', true],
    ['time builtin export A=4; exit', true],
    ['! read A <a.sh; exit', true],
    ['for A in 1 2; do :; done; exit', true],
    ['echo "cd sub"; exec ls sub', true],
    ['ls --set=1 ./read; exit', false],
    ['cd sub', false],
  ])(
    'after %j, whose shell may report nothing, it says what is not kept: %s',
    async (line, isSaid) => {
      const call = await sessionIn(await temporaryWorkspace({ 'sub/a.txt': '', 'a.sh': 'B=1' }));
      const { data } = await call({ command: line });
      expect(data.includes('Its shell ended before its report, so your next')).toBe(isSaid);
    },
  );

  test('shows people and rules the folder and the variables that it runs with', async () => {
    const place = await temporaryWorkspace({ 'sub/a.txt': '' });
    const call = await sessionIn(place);
    await call({ command: 'cd sub; export PATH="/evil:$PATH" LIST="a b"; unset LANG' });
    const { subjects, proposal } = await call.propose({ command: 'git push' });
    expect(proposal).toMatchObject({ folder: 'sub', command: subjects[0] });
    expect(subjects).toEqual([
      expect.stringMatching(/^export LIST='a b' PATH='\/evil:[^']*'\n(?:unset LANG\n)?git push$/),
    ]);
    await call({ command: 'cd .. && rmdir sub 2>/dev/null; export PATH=/usr/bin:/bin' });
    // A call keeps what it was read with, whatever other commands do meanwhile.
    const before = await call.propose({ command: 'true' });
    await call({ command: 'export LATER=1' });
    const { data } = await before.apply();
    expect(data).not.toContain('LATER');
  });

  test('says that nothing was printed', async () => {
    const { data } = await call(await temporaryWorkspace(), { command: 'true' });
    expect(data).toBe('Exit code: 0\nSandbox: none.\nIt printed nothing.');
  });

  test('gives what a command printed until its time limit, as an error', async () => {
    const args = { command: 'echo ready; sleep 60', timeout: 1_000 };
    const text =
      'It was ended at its time limit: give a longer timeout, or is_background for what never ends.';
    expect(await call(await temporaryWorkspace(), args)).toEqual({
      status: 'error',
      code: 'TIMEOUT',
      data: `${text}\nSandbox: none.\nOutput:\nready\nTerminated\n`,
      metadata: {
        command: args.command,
        workingDirectory: '.',
        exitCode: -1,
        output: 'ready\nTerminated\n',
        duration_ms: expect.any(Number),
        permissions: [],
        result: { status: 'error', data: text },
      },
    });
  });

  test('ends a command with its call', async () => {
    const cancel = new AbortController();
    const result = await call(
      await temporaryWorkspace(),
      { command: 'echo ready; sleep 60' },
      { signal: cancel.signal, onOutput: () => cancel.abort() },
    );
    expect(result).toMatchObject({
      status: 'error',
      code: 'CANCELLED',
      metadata: { output: 'ready\nTerminated\n', exitCode: -1 },
    });
  });

  test('lets a background command run on', async () => {
    const args = { command: 'echo listening; sleep 60', is_background: true };
    const { status, data, metadata } = await call(await temporaryWorkspace(), args);
    expect({ status, data }).toEqual({
      status: 'success',
      data: expect.stringMatching(
        /^It runs on in the background, [\s\S]*\nprocess_id: proc_[0-9a-f]{8}, [\s\S]*\nlistening\n$/,
      ),
    });
    expect(TerminalCommandMetadata.parse(metadata)).toMatchObject({ output: 'listening\n' });
    expect(metadata).not.toHaveProperty('exitCode');
  });

  test.each([
    [{ command: 'ls', working_directory: '..' }, 'OUTSIDE_WORKSPACE'],
    [{ command: 'ls', working_directory: 'missing' }, 'NOT_A_FOLDER'],
    [{ command: 'ls', working_directory: 'a.txt' }, 'NOT_A_FOLDER'],
    [{ command: 'ls \0' }, 'INVALID_COMMAND'],
  ])('refuses %j with %s', async (args, code) => {
    const place = await temporaryWorkspace({ 'a.txt': '' });
    expect(await call(place, args)).toMatchObject({ status: 'error', code });
  });

  test.skipIf(NO_BUBBLEWRAP)(
    `names the limits and what a command made ${NO_BUBBLEWRAP ?? ''}`,
    async () => {
      const { run } = await guardedWorkspace();
      const { data } = await run('git init -q made');
      expect(data).toBe(
        'Exit code: 0\n' +
          'Sandbox: bubblewrap: writes only to the workspace, no network, .git read-only.\n' +
          'made/.git is new; nothing in it starts programs.\n' +
          'It printed nothing.',
      );
    },
  );

  test.skipIf(NO_BUBBLEWRAP)(
    `says which closed files a command met ${NO_BUBBLEWRAP ?? ''}`,
    async () => {
      const { run, place } = await guardedWorkspace();
      const put = (name: string, text: string) => place.put(`workspace/${name}`, text);
      await put('certs/a.key', 'secret\n');
      await put('.env', 'KEY=1\n');
      await put('.env.example', 'KEY=\n');
      await put('.vscode/settings.json', '{}\n');
      const { data } = await run(
        'cat .env certs/a.key; echo x > .vscode/settings.json; touch .git/x',
      );
      expect(data).toContain(
        '\nClosed to commands, since it may hold secrets: .env, certs/a.key. To git it is unchanged.\n',
      );
      expect(data).toMatch(
        /\nRead-only for commands, since it configures git, .*: (?:\.git, \.vscode|\.vscode, \.git)\.\n/,
      );
      const quiet = await run('ls -a; echo Permission denied: my.env .envy; cat .env.example');
      expect(quiet.data).not.toContain('Closed to commands');
    },
  );

  test.skipIf(NO_BUBBLEWRAP).each(GIT_WRITES.slice(0, fewOf(GIT_WRITES.length, 3)))(
    'says which permission git needs: %s',
    async (command) => {
      const { run, place, git } = await guardedWorkspace();
      await place.put('workspace/a.txt', 'one\n');
      for (const line of ['add .', '-c user.name=a -c user.email=a@b.test commit -m first'])
        await git('.', ...line.split(' '));
      await place.put('workspace/a.txt', 'two\n');
      const { data } = await run(command);
      expect(data).toContain('needs the permission `git_write`');
      const quiet = await run('git status; git log --oneline; git diff');
      expect(quiet.data).not.toContain('git_write');
    },
  );
});
