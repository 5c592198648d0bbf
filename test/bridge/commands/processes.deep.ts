import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createCommandTools } from '../../../bridge/commands/feature.ts';
import { TERMINAL_LIMITS } from '../../../packages/sandbox/terminal/limits.ts';
import {
  freshWorkspace,
  NO_BUBBLEWRAP,
} from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import { isAnyoneRunning } from '../../../packages/sandbox/test/terminal/plain-launch.ts';
import { Workspace } from '../../../packages/workspace/workspace.ts';
import { COMMAND_LIMITS } from '../../../shared/limits.ts';
import { background, call, start } from './command-tools.ts';

describe.concurrent('a background command', () => {
  test('is read from where its last result ended, with its state and the next cursor', async () => {
    const id = await start('echo first; read line; echo "got $line"; read line; exit 3');
    expect(id).toMatch(/^proc_[0-9a-f]{8}$/);
    const sent = await call('control_process', { process_id: id, input: 'hello\n' });
    expect(sent).toMatchObject({
      status: 'success',
      data: expect.stringMatching(/Running\.[\s\S]*\ngot hello\n$/),
      metadata: { process_id: id, running: true, cursor: 16 },
    });
    await call('control_process', { process_id: id, close_input: true });
    const { data, metadata } = await call('read_process', { process_id: id, timeout: 5_000 });
    expect(metadata).toEqual({ process_id: id, running: false, exitCode: 3, cursor: 16 });
    expect(data).not.toContain('got hello');
    expect((await call('read_process', { process_id: id, cursor: 6 })).data).toContain('got hello');
    expect((await call('read_process', { process_id: id, cursor: -6 })).data).toMatch(/\nhello\n$/);
  });

  test('is waited for until a line matches', async () => {
    const id = await start('sleep 1.3; echo one; sleep 0.3; echo "Local: http://localhost:3000"');
    const { data } = await call('read_process', {
      process_id: id,
      cursor: 0,
      pattern: String.raw`localhost:\d+$`,
      timeout: 10_000,
    });
    expect(data).toContain('The pattern matches: Local: http://localhost:3000');
    const again = await call('read_process', { process_id: id, cursor: 0, pattern: 'nothing' });
    expect(again.data).toContain('The pattern does not match, and nothing more comes.');
  });

  test('that closes its output runs on, and ends with its last process', async () => {
    const id = await start('exec >&- 2>&-; sleep 60 & wait');
    expect((await call('read_process', { process_id: id })).metadata).toMatchObject({
      running: true,
    });
    const { metadata } = await call('control_process', { process_id: id, stop: true });
    expect(metadata).toMatchObject({ running: false });
  });

  test('that is waited for ends the wait with its call', async () => {
    const id = await start('sleep 60');
    const signal = AbortSignal.timeout(200);
    const wait = call('read_process', { process_id: id, pattern: 'x' }, { signal });
    await expect(wait).rejects.toThrow();
  });

  test('that has closed its input refuses input', async () => {
    const id = await start('exec <&-; sleep 60');
    await expect
      .poll(() => call('control_process', { process_id: id, input: 'x' }))
      .toMatchObject({ code: 'NO_INPUT' });
  });

  test('does not hang a wait by a hostile pattern, a flood or a silence', async () => {
    const id = await start(
      `printf '${'a'.repeat(40)}\\n'; while :; do echo aaaaaaaaaaaaaaaaaaab; done`,
    );
    const wait = (pattern: string) =>
      call('read_process', { process_id: id, pattern, cursor: 0, timeout: 300 });
    const startedAt = performance.now();
    expect((await wait('(a+)+$x')).data).toContain('No match within 0.3 s.');
    expect(await wait('(')).toMatchObject({ status: 'error', code: 'INVALID_PATTERN' });
    expect(await wait('a{1000}{1000}{1000}')).toMatchObject({ code: 'INVALID_PATTERN' });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test('that floods keeps its head and its newest output, and says what is gone', async () => {
    const id = await start('echo head; exec yes 12345678901234567890');
    await call('control_process', { process_id: id, stop: true });
    const { output } = background.book.get(id) ?? {};
    expect(output?.length).toBeGreaterThan(4 * TERMINAL_LIMITS.keptTailChars);
    const first = await call('read_process', { process_id: id, cursor: 0 });
    expect(first.data).toContain('\nhead\n');
    const cursor = Number(first.metadata?.['cursor']);
    const next = await call('read_process', { process_id: id, cursor });
    expect(next.data).toMatch(new RegExp(`Characters ${cursor} to \\d+ are no longer kept`));
    expect(Number(next.metadata?.['cursor'])).toBeGreaterThan(
      (4 * TERMINAL_LIMITS.keptTailChars) / 2,
    );
  });

  test('is stopped with all that it started, even where it ignores SIGTERM', async () => {
    const id = await start('trap "" TERM; sleep 61 & while :; do sleep 1; done');
    const stopped = await call('control_process', { process_id: id, stop: true });
    expect(stopped).toMatchObject({ metadata: { running: false, exitCode: -1 } });
    expect(stopped.data).toContain('You stopped it.');
    expect(await call('control_process', { process_id: id, stop: true })).toMatchObject({
      status: 'success',
    });
    expect(await call('control_process', { process_id: id, input: 'x' })).toMatchObject({
      code: 'NO_INPUT',
    });
  });

  test('that reads no input takes a bounded amount', async () => {
    const id = await start('sleep 60');
    const input = 'x'.repeat(COMMAND_LIMITS.maxInputChars);
    const codes = [];
    for (let count = 0; count < 9; count++) {
      const result = await call('control_process', { process_id: id, input });
      codes.push(result.status === 'error' ? result.code : result.status);
    }
    expect(codes.at(-1)).toBe('INPUT_FULL');
  });

  test('is waited for until a line matches that has no end yet', async () => {
    const id = await start('sleep 1.2; printf "Name"; sleep 0.4; printf "? "; sleep 60');
    const wait = { process_id: id, cursor: 0, pattern: String.raw`Name\? `, timeout: 10_000 };
    expect((await call('read_process', wait)).data).toContain('The pattern matches: Name?');
  });
});

test('a long output of a finished command is paged by its process_id', async () => {
  const { data, metadata } = await call('run_terminal_cmd', { command: 'seq 1 20000' });
  expect(data).toContain('characters of output are left out here');
  let [all, cursor] = ['', 0];
  for (let page = 0; page < 10; page++) {
    const shown = await call('read_process', { process_id: metadata?.['process_id'], cursor });
    all +=
      shown.data
        .slice(shown.data.indexOf(`cursor is ${shown.metadata?.['cursor']}.\n`))
        .split('.\n')[1] ?? '';
    cursor = Number(shown.metadata?.['cursor']);
  }
  expect(all.trim().split('\n')).toEqual(Array.from({ length: 20_000 }, (_, at) => `${at + 1}`));
  const short = await call('run_terminal_cmd', { command: 'seq 1 20' });
  expect(short.metadata).not.toHaveProperty('process_id');
});

test.skipIf(NO_BUBBLEWRAP)(
  `a process in the sandbox gets input, answers its conversation's commands, and leaves nothing ${NO_BUBBLEWRAP ?? ''}`,
  async () => {
    const place = await freshWorkspace();
    const { confinement, surroundings } = place;
    const made = createCommandTools({ confinement, background });
    const workspace = await Workspace.open(surroundings.workspace);
    const changes = { workspace };
    const server = `perl -MIO::Socket::INET -e '
      my $word = <STDIN>; chomp $word; $| = 1; print "got $word\n";
      my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 3000);
      while (my $c = $s->accept) { print $c "$word\n"; close $c }'`;
    const marker = `35${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    const command = `setsid sleep ${marker} & ${server}`;
    const started = await call('run_terminal_cmd', { command, is_background: true }, changes, made);
    const id = String(started.metadata?.['process_id']);
    expect(started.data).toContain('reach its ports at localhost');
    const sent = await call('control_process', { process_id: id, input: 'word\n' }, changes, made);
    expect(sent.data).toContain('\ngot word\n');
    const ask = `bash -c 'exec 3<>/dev/tcp/127.0.0.1/3000 && cat <&3'`;
    const asked = await call('run_terminal_cmd', { command: ask }, changes, made);
    expect(asked.data).toContain('Output:\nword\n');
    expect(await isAnyoneRunning(marker)).toBe(true);
    await call('control_process', { process_id: id, stop: true }, changes, made);
    expect(await isAnyoneRunning(marker)).toBe(false);
  },
);

test.skipIf(NO_BUBBLEWRAP)(
  `a process in the sandbox is ended by another command of its conversation ${NO_BUBBLEWRAP ?? ''}`,
  async () => {
    const { confinement, surroundings } = await freshWorkspace();
    const made = createCommandTools({ confinement, background });
    const changes = { workspace: await Workspace.open(surroundings.workspace) };
    const marker = `36${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    const command = `setsid sleep ${marker} & exec perl -e '$| = 1; print "up\n"; sleep 60'`;
    const started = await call('run_terminal_cmd', { command, is_background: true }, changes, made);
    expect(started.data).toContain('They can end its processes');
    const asked = { command: `pgrep -a perl; pkill -x perl` };
    const killed = await call('run_terminal_cmd', asked, changes, made);
    expect(killed.data).toMatch(/Output:\n\d+ perl -e /);
    const id = String(started.metadata?.['process_id']);
    const wait = { process_id: id, wait_for: 'nothing', timeout: 10_000 };
    const ended = await call('read_process', wait, changes, made);
    expect(ended.data).toContain('Exit code: 143');
    expect(await isAnyoneRunning(marker)).toBe(false);
  },
);

test.skipIf(NO_BUBBLEWRAP)(
  `commands in the sandbox hand on folder and variables, over permissions, and no descriptor ${NO_BUBBLEWRAP ?? ''}`,
  async () => {
    for (const isHeld of [false, true]) {
      const { confinement, surroundings, put } = await freshWorkspace({ isHeld });
      await put('workspace/sub/file', 'text\n');
      const made = createCommandTools({ confinement, background });
      const changes = { workspace: await Workspace.open(surroundings.workspace) };
      const run = async (command: string, ...permissions: string[]) =>
        (await call('run_terminal_cmd', { command, permissions }, changes, made)).data;
      const first = await run('ls -l /proc/self/fd | grep -c -e ":\\["; cd sub; export A="1  2"');
      // Its two outputs share one pipe; the third descriptor is that of the folder that `ls` lists.
      expect(first).toMatch(/Output:\n2\n$/);
      expect(await run('cat file; echo "$A"')).toMatch(/Output:\ntext\n1 {2}2\n$/);
      expect(await run('cat file; echo "$A"', 'git_write')).toMatch(/Output:\ntext\n1 {2}2\n$/);
      expect(await run('cat file; export A=3', 'all')).toMatch(/Output:\ntext\n$/);
      expect(await run('echo $A; cd ..; ls -d sub')).toMatch(/Output:\n3\nsub\n$/);
      const program = `perl -e '$SIG{TERM} = sub { print "cleaned\\n"; exit }; sleep 60'; echo more`;
      const stopped = { command: program, timeout: 1_000 };
      const { data } = await call('run_terminal_cmd', stopped, changes, made);
      expect(data).toMatch(/ended at its time limit[\s\S]*\ncleaned\n$/);
    }
  },
);
