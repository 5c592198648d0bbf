import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Permission } from '../../../../shared/tools/run-terminal-cmd.ts';
import { descendants } from '../../launch/freeze.ts';
import type { CommandOutcome } from '../../terminal/run-command.ts';
import type { CommandEnd } from '../../terminal/running-command.ts';
import { RunningCommand } from '../../terminal/running-command.ts';
import {
  NO_BUBBLEWRAP,
  type SandboxedWorkspace,
  sandboxedWorkspace,
} from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';

/** A command that runs, and what it has printed. */
interface Started {
  readonly command: RunningCommand;
  readonly ended: Promise<CommandEnd>;
  /** Resolves once it has printed this. */
  readonly printed: (text: string) => Promise<void>;
  readonly output: () => string;
}

const NO_COMPILER = existsSync('/usr/bin/gcc') ? undefined : 'skipped: gcc is not installed';

describe.skipIf(NO_BUBBLEWRAP)(`the processes of a conversation ${NO_BUBBLEWRAP ?? ''}`, () => {
  let place: SandboxedWorkspace;
  const running: RunningCommand[] = [];
  beforeAll(async () => {
    place = await sandboxedWorkspace();
  });
  afterEach(async () => {
    for (const command of running) command.stop('cancelled');
    await Promise.all(running.splice(0).map(({ ended }) => ended));
  });
  afterAll(() => place.remove());

  const requestOf = (
    command: string,
    conversationId?: string,
    permissions: readonly Permission[] = [],
  ) => ({
    command,
    cwd: place.surroundings.workspace,
    permissions,
    ...(conversationId && { conversationId }),
  });

  async function start(
    command: string,
    conversationId: string,
    ...permissions: Permission[]
  ): Promise<Started> {
    const request = requestOf(command, conversationId, permissions);
    return await place.confinement.start(request, async ({ launch }) => {
      let output = '';
      const started = new RunningCommand(launch, (text) => (output += text), { hasInput: true });
      running.push(started);
      const printed = async (text: string) => {
        while (!output.includes(text)) await sleep(5);
      };
      return { command: started, ended: started.ended, printed, output: () => output };
    });
  }

  const attempt = async (command: string, conversationId?: string): Promise<CommandOutcome> =>
    await place.confinement.start(requestOf(command, conversationId), ({ launch }) => run(launch));

  /** Processes of this test that have such an argument, as the machine sees them. */
  const alive = (marker: string) =>
    descendants().filter(({ pid }) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(marker);
      } catch {
        return false;
      }
    });

  test.each([
    ['by its number', ({ output }: Started) => `kill ${output().trim()}`],
    ['by its name', () => 'pkill -x sleep'],
    ['by its arguments', () => 'pkill -f "sleep 7001"'],
  ])('are ended by another command %s', async (_, command) => {
    const server = await start('echo $$; exec sleep 7001', 'conv_a');
    await server.printed('\n');
    const { end } = await attempt(command(server), 'conv_a');
    expect(end).toEqual({ state: 'exited', exitCode: 0 });
    expect(await server.ended).toEqual({ state: 'exited', exitCode: 143 });
  });

  test('are ended by a command with other permissions', async () => {
    const server = await start('echo $$; exec sleep 7002', 'conv_a', 'git_write');
    await server.printed('\n');
    await attempt(`kill ${server.output().trim()}`, 'conv_a');
    expect(await server.ended).toMatchObject({ exitCode: 143 });
  });

  test('are not seen where they have the network of the machine, which their /proc would show', async () => {
    const server = await start('echo up; exec sleep 7012', 'conv_a', 'network');
    await server.printed('up');
    const { output } = await attempt('pkill -x sleep; cat /proc/*/net/route', 'conv_a');
    expect(output.match(/^Iface/gm)?.length).toBeGreaterThan(2);
    expect(output).not.toMatch(/^(?!Iface)./m);
    expect(alive('7012')).toHaveLength(1);
  });

  test('are seen by its commands alone', async () => {
    const server = await start('echo up; exec sleep 7003', 'conv_a');
    await server.printed('up');
    const look = 'ps -eo args';
    expect((await attempt(look, 'conv_a')).output).toContain('sleep 7003');
    for (const other of ['conv_b', undefined]) {
      const { output } = await attempt(`${look}; pkill -x sleep; echo $?`, other);
      expect(output).toMatch(/1\n$/);
      expect(output).not.toContain('sleep 7003');
      expect(output).not.toContain('vitest');
    }
    expect(alive('7003')).toHaveLength(1);
  });

  test('keep their files, variables, memory and descriptors to themselves', async () => {
    const server = await start('echo $$; exec sleep 7004', 'conv_a');
    await server.printed('\n');
    const read = (name: string) =>
      `[ -n "$(head -c 1 $p/${name} 2>&1 | tr -d "\\0" | grep -v head:)" ]`;
    const looks = {
      root: 'ls $p/root/.',
      cwd: 'ls $p/cwd/.',
      descriptors: 'readlink $p/fd/0',
      network: 'readlink $p/ns/mnt',
      ...Object.fromEntries(
        ['environ', 'maps', 'mem', 'io', 'stack'].map((name) => [name, read(name)]),
      ),
    };
    const tries = Object.entries(looks).map(
      ([name, look]) => `${look} >/dev/null 2>&1 && echo ${name}`,
    );
    // Of itself; and of the namespace's first process, of each bubblewrap and of the other command.
    const { output } = await attempt(
      `for n in $$ 1 $(pgrep -x 'bwrap|sleep'); do p=/proc/$n; echo "look $p"; ${tries.join('; ')}; done; echo end`,
      'conv_a',
    );
    const [itself = '', ...others] = output.split(/look .*\n/).slice(1);
    expect(itself.trim().split('\n')).toEqual([
      'root',
      'cwd',
      'descriptors',
      'network',
      'environ',
      'maps',
      'io',
    ]);
    expect(others).toEqual(['', '', '', 'end\n']);
  });

  test('do not end a namespace by its first process', async () => {
    const server = await start('echo up; exec sleep 7005', 'conv_a');
    await server.printed('up');
    const { output } = await attempt('kill -9 1; kill -STOP 1; kill -TERM 1; echo still', 'conv_a');
    expect(output).toBe('still\n');
    expect(alive('7005')).toHaveLength(1);
  });

  test('all end by one signal to all, and later commands run', async () => {
    const server = await start('echo up; exec sleep 7006', 'conv_a');
    await server.printed('up');
    const { end } = await attempt('kill -9 -1; sleep 5; echo not reached', 'conv_a');
    expect(end.state).not.toBe('stopped');
    await server.ended;
    expect((await attempt('echo later', 'conv_a')).output).toBe('later\n');
  });

  /** Each leaves its command, where a number of its own can be put in. */
  const leaving = [
    ['in the background', (sleeper: string) => `${sleeper} &`],
    ['in a session of its own', (sleeper: string) => `setsid ${sleeper} & sleep 0.1`],
    [
      'as an orphan that ignores signals',
      (sleeper: string) => `(trap "" TERM HUP; setsid setsid ${sleeper} &)`,
    ],
    ['stopped', (sleeper: string) => `${sleeper} & kill -STOP $!`],
  ] as const;

  test.each(leaving)(
    'of one command that are left %s go with it, and others stay',
    async (_, leave) => {
      const server = await start('echo up; exec sleep 7007', 'conv_a');
      await server.printed('up');
      const { end } = await attempt(`${leave('sleep 7008 >/dev/null 2>&1')}\n: done`, 'conv_a');
      expect(end).toEqual({ state: 'exited', exitCode: 0 });
      expect(alive('7008')).toEqual([]);
      expect(alive('7007')).toHaveLength(1);
    },
  );

  test('go with a command that forks faster than it can be killed', async () => {
    const server = await start('echo up; exec sleep 7009', 'conv_a');
    await server.printed('up');
    const storm = await start('echo storm; f() { f | f & }; f 7010; sleep 7010', 'conv_a');
    await storm.printed('storm');
    await sleep(300);
    storm.command.stop('agent');
    expect(await storm.ended).toEqual({ state: 'stopped', reason: 'agent' });
    expect((await attempt('ps -eo args | grep -c "[f] | f"', 'conv_a')).output).toBe('0\n');
  });

  test('go with a command whose process is never the same', async () => {
    const hopper = `perl -e '$0 = "hopper"; fork and exit while 1'`;
    const command = await start(`echo up; ${hopper} & sleep 0.2`, 'conv_a');
    await command.ended;
    const { output } = await attempt(
      'for i in 1 2 3 4 5; do ps -eo args | grep -x hopper; done; echo end',
      'conv_a',
    );
    expect(output).toBe('end\n');
  });

  test('end by SIGTERM, with time to clean up', async () => {
    const command = await start(
      `trap 'echo cleaning; exit 3' TERM; echo up; while :; do sleep 0.05; done`,
      'conv_a',
    );
    await command.printed('up');
    command.command.stop('agent');
    await command.ended;
    expect(command.output()).toMatch(/cleaning\n$/);
  });

  test('of a command that is stopped at once do not begin', async () => {
    for (let at = 0; at < 20; at++) {
      const command = await start('echo began; sleep 7011', 'conv_a');
      await sleep(at);
      command.command.stop('cancelled');
      expect(await command.ended).toEqual({ state: 'stopped', reason: 'cancelled' });
      expect(alive('7011')).toEqual([]);
    }
    expect((await attempt('ps -e | wc -l', 'conv_a')).output.trim()).toMatch(/^[4-7]$/);
  });

  test('leave no dead ones behind', async () => {
    await attempt('for i in 1 2 3; do (setsid sleep 0.01 &); done; sleep 0.3', 'conv_a');
    expect((await attempt('ps -eo stat | grep -c Z', 'conv_a')).output).toBe('0\n');
  });

  describe.skipIf(NO_COMPILER)(`of a program that hides ${NO_COMPILER ?? ''}`, () => {
    beforeAll(async () => {
      const file = place.path('workspace/leaving');
      const source = join(import.meta.dirname, 'leaving.c');
      await promisify(execFile)('gcc', ['-O1', '-w', '-static', '-pthread', '-o', file, source]);
    });

    /** Whether something still shows that it lives. */
    const lives = async (sign: string) => {
      const before = (await place.text(`workspace/${sign}`))?.length;
      expect(before).toBeGreaterThan(0);
      await sleep(1_500);
      return (await place.text(`workspace/${sign}`))?.length !== before;
    };

    test('go also where the first thread of one is dead', async () => {
      const { end } = await attempt('./leaving headless sign_1; sleep 0.3', 'conv_a');
      expect(end).toEqual({ state: 'exited', exitCode: 0 });
      expect(await lives('sign_1')).toBe(false);
    });

    test('go also where none has a number for long, beside many others', async () => {
      const others = await start('./leaving many', 'conv_c');
      await others.printed('ready');
      await attempt('./leaving hop sign_2; sleep 0.3', 'conv_c');
      expect(await lives('sign_2')).toBe(false);
    });
  });

  test('keep their memory from each other, also as they end', async () => {
    const victim = await start(
      `exec perl -e '$| = 1; $s = "se" . "cret"; print "up\\n"; sleep 60'`,
      'conv_a',
    );
    await victim.printed('up');
    const attack =
      'prlimit --pid $(pgrep -x perl) --core=unlimited:unlimited; pkill -QUIT -x perl; ls';
    const { output } = await attempt(attack, 'conv_a');
    expect(output).toMatch(/prlimit: .*not permitted/);
    expect(output).not.toMatch(/^core/m);
    await victim.ended;
  });

  test('show none of the machine’s mounts', async () => {
    const { output } = await attempt('cat /proc/*/mountinfo', 'conv_a');
    expect(output).toContain(' /proc ');
    expect(output).not.toContain('cgroup');
  });

  test('end a command with the last of them, also where what waits for it is stopped', async () => {
    const command = await start('kill -STOP $PPID; echo done', 'conv_a');
    expect(await command.ended).toEqual({ state: 'killed', signal: 'SIGKILL' });
    expect(command.output()).toBe('done\n');
  });

  test('do not begin where this process cannot hold them', async () => {
    await attempt('true', 'conv_a');
    const taken: number[] = [];
    const command = await start('echo began; exec sleep 7013', 'conv_a');
    try {
      for (;;) taken.push(openSync('/dev/null', 'r'));
    } catch {
      // All descriptors are in use.
    }
    await sleep(200);
    for (const descriptor of taken) closeSync(descriptor);
    expect(await command.ended).toMatchObject({ state: 'killed' });
    expect(command.output()).toBe('');
    expect(alive('7013')).toEqual([]);
  });
});
