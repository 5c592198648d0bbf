/** Ways out of a sandbox that need no race, as tests: each of them once led out. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { link, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SANDBOX_LIMITS } from '../../limits.ts';
import {
  freshWorkspace,
  git,
  NO_BUBBLEWRAP,
  realConfinement,
  type SandboxedWorkspace,
} from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';

const SECRET = 'secret of the project\n';

/** With a project `packages/api` in it, which has a secret and a repository. */
async function withProject(isHeld: boolean): Promise<SandboxedWorkspace> {
  const place = await freshWorkspace({ isHeld });
  await place.put('workspace/packages/api/.env', SECRET);
  await place.put('workspace/packages/api/src/index.ts', '');
  await git(place.path('workspace/packages/api'), 'init', '--quiet');
  return place;
}

/** What commands got of the secret and did to the repository, wherever a command has put the two. */
async function loot(place: SandboxedWorkspace, enter: string): Promise<unknown> {
  const { output } = await place.attempt(
    `${enter} && { cat .env; git config core.fsmonitor ./owned; echo owned > .git/hooks/pre-commit; }; echo end`,
  );
  const { stdout } = await promisify(execFile)('grep', [
    '-rl',
    'owned',
    place.path('workspace'),
  ]).catch(({ stdout }) => ({ stdout }));
  const isSafe = !output.includes('secret') && output.endsWith('end\n');
  return { isSafe, owned: stdout };
}

const BEHIND_MANY: [string, string, string] = [
  'behind 20,500 files',
  'mkdir -p a/b/c; for i in $(seq 20500); do : > "a/!$i"; done; mv packages/api a/b/c/',
  'cd a/b/c/api',
];

const SAFE = { isSafe: true, owned: '' };

interface Extent {
  /** Whether each command has mounts of its own, as where no base can be entered. */
  readonly isHeld: boolean;
}

export function describeEscapes({ isHeld }: Extent): void {
  const way = isHeld ? 'by holding each command' : 'by a base';
  describe.skipIf(NO_BUBBLEWRAP)(`what is closed stays closed ${way}`, () => {
    const DEEP = 'n=$(printf %0200d 0); for i in $(seq 24); do mkdir -p $n && cd $n; done';
    test.each<[string, string, string]>([
      [
        'into a folder of packages',
        'mkdir node_modules; mv packages/api node_modules/',
        'cd node_modules/api',
      ],
      ['under a name that is not UTF-8', "mv packages $'p\\xff'", "cd $'p\\xff'/api"],
      [
        'into a folder that only a command opens',
        'mkdir d; mv packages/api d/; chmod 000 d',
        'chmod 700 d; cd d/api',
      ],
      [
        'deeper than a path can be long',
        `W=$PWD; ${DEEP}; mv $W/packages/api .`,
        `${DEEP}; cd api`,
      ],
      [
        'into a folder of an editor that only a command opens',
        'mkdir .idea; mv packages/api .idea/; chmod 000 .idea',
        'chmod 700 .idea; cd .idea/api',
      ],
      [
        'into such a folder, deeper than a path can be long',
        `W=$PWD; mkdir .idea; cd .idea; ${DEEP}; mv $W/packages/api .`,
        `cd .idea; ${DEEP}; cd api`,
      ],
      BEHIND_MANY,
    ])('when its parents are moved %s', async (_, move, enter) => {
      const place = await withProject(isHeld);
      await place.attempt('true');
      await place.attempt(move);
      // Neither at once nor after what lies in the way was taken away.
      await loot(place, enter);
      expect(await loot(place, enter)).toEqual(SAFE);
    });

    test('when its parents are moved before anything else was run', async () => {
      const place = await withProject(isHeld);
      await place.attempt('mkdir node_modules; mv packages/api node_modules/');
      expect(await loot(place, 'cd node_modules/api')).toEqual(SAFE);
    });

    test('when a program of the person moves it', async () => {
      const place = await withProject(isHeld);
      await place.attempt('true');
      await mkdir(place.path('workspace/moved'));
      await rename(place.path('workspace/packages/api'), place.path('workspace/moved/api'));
      expect(await loot(place, 'cd moved/api')).toEqual(SAFE);
    });

    test('when an editor puts a new file in its place', async () => {
      const place = await withProject(isHeld);
      await place.attempt('true');
      await place.put('workspace/new', SECRET);
      await rename(place.path('workspace/new'), place.path('workspace/packages/api/.env'));
      expect(await loot(place, 'cd packages/api')).toEqual(SAFE);
    });

    test('to commands that began before it came into being, for those that begin after', async () => {
      const place = await withProject(isHeld);
      await place.attempt('true');
      await place.put('workspace/late/.env', SECRET);
      await git(place.path('workspace/late'), 'init', '--quiet');
      expect(await loot(place, 'cd late')).toEqual(SAFE);
    });

    test('or the result says that it is not closed, where commands have made more than a sandbox can close', async () => {
      const place = await freshWorkspace({ isHeld });
      // With those that the workspace has, just as many as there is room for.
      const count = SANDBOX_LIMITS.maxMounts - 3;
      await place.attempt(`for i in $(seq ${count}); do mkdir -p f/$i/.vscode; done`);
      expect((await place.attempt('true')).limits).not.toContain('are not closed');
      await place.put('workspace/late/.env', SECRET);
      expect((await place.attempt('true')).limits).toContain('are not closed');
    });

    test('where it is in a folder that can only be read', async () => {
      const place = await withProject(isHeld);
      await place.put('workspace/.vscode/.env', SECRET);
      await place.put('workspace/.claude/keys/server.key', SECRET);
      const { output } = await place.attempt('cat .vscode/.env .claude/keys/server.key; echo end');
      expect(output).not.toContain('secret');
      expect(output).toMatch(/end\n$/);
      expect((await place.attempt('cat .vscode/settings.json; echo > .vscode/x')).output).toMatch(
        /^\{\}/,
      );
      expect(await place.text('workspace/.vscode/x')).toBeUndefined();
    });

    test.each([
      ['of a folder', '.github', 'gh', 'gh/hooks/h.json'],
      ['in a folder', '.claude/skills', '../skills', 'skills/s/SKILL.md'],
      ['of a hook', '.git/hooks/pre-commit', '../../tools/check', 'tools/check'],
      ['of all hooks', '.git/hooks', '../tools', 'tools/pre-push'],
    ])('behind a link %s', async (_, name, target, obeyed) => {
      const place = await freshWorkspace({ isHeld });
      await rm(place.path(`workspace/${name}`), { recursive: true, force: true });
      await place.put(`workspace/${obeyed}`, 'mine\n');
      await mkdir(dirname(place.path(`workspace/${name}`)), { recursive: true });
      await symlink(target, place.path(`workspace/${name}`));
      using confinement = await realConfinement(place.surroundings, { isHeld });
      const command = `echo theirs > ${obeyed}; rm -f ${obeyed}; mv ${obeyed} x; cat ${obeyed}`;
      const request = { command, cwd: place.surroundings.workspace, permissions: [] };
      const { output } = await confinement.start(request, ({ launch }) => run(launch));
      expect(output).toMatch(/mine\n$/);
    });

    test('with its second name in the workspace, where a person has made one', async () => {
      const place = await withProject(isHeld);
      await mkdir(place.path('workspace/copy'));
      await link(place.path('workspace/packages/api/.env'), place.path('workspace/copy/.env'));
      const { output } = await place.attempt('cat copy/.env packages/api/.env');
      expect(output).not.toContain('secret');
    });
  });

  describe.skipIf(NO_BUBBLEWRAP)(`the machine is closed ${way}`, () => {
    test.each([
      ['no user that the kernel knows as root', 'cat /proc/self/uid_map', /^\s+0 /m],
      [
        'no setting of the kernel',
        'for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/sys/vm/drop_caches; do [ -w $f ] && echo writable; done',
        /writable/,
      ],
      ['no hashes of passwords', 'cat /etc/shadow /etc/gshadow /etc/security/opasswd', /:\$|root:/],
      [
        'no data of services or other people',
        'ls -d /home/* /srv/* /var/spool /var/lib/private /mnt /media /run/*',
        /^\//m,
      ],
      ['no devices of the machine', 'ls /dev', /^(sda|vda|kmsg|mem|fuse|kvm)$/m],
    ])('commands reach %s', async (_, command, reached) => {
      const place = await freshWorkspace({ isHeld });
      const { output } = await place.attempt(`{ ${command}; } 2>/dev/null; echo end`);
      expect(output).toMatch(/end\n$/);
      expect(output).not.toMatch(reached);
    });

    test('commands write to no pipe outside the workspace', async () => {
      const place = await freshWorkspace({ isHeld });
      const pipe = join('/var/tmp', `drawbridge-${process.pid}`);
      await promisify(execFile)('mkfifo', ['-m', '666', place.path('home/pipe'), pipe]);
      onTestFinished(() => rm(pipe));
      const { output } = await place.attempt(
        `for pipe in ~/pipe ${pipe}; do [ -p $pipe ] && echo reached; done; echo end`,
      );
      expect(output).toBe('end\n');
    });

    test('commands get no descriptor that the bridge was started with', async () => {
      const place = await freshWorkspace({ isHeld });
      const root = openSync('/', 'r');
      onTestFinished(() => closeSync(root));
      // Node itself keeps the low ones from its children.
      const none = Array.from({ length: 40 }, () => 'ignore' as const);
      const bridge = spawn(process.execPath, [join(import.meta.dirname, 'leaky-bridge.ts')], {
        stdio: ['pipe', 'pipe', 'inherit', ...none, root],
      });
      const command =
        `for fd in /proc/self/fd/*; do cat "$fd${place.path('outside/file')}"; echo > "$fd${place.path('outside/made')}"; done 2>/dev/null; ` +
        'echo end';
      bridge.stdin?.end(JSON.stringify({ surroundings: place.surroundings, command, isHeld }));
      expect(bridge.stdout && (await text(bridge.stdout))).toBe('end\n');
      expect(await readdir(place.path('outside'))).toEqual(['file']);
    });

    test('commands reach no socket outside the workspace', async () => {
      const place = await freshWorkspace({ isHeld });
      const name = `drawbridge-test-${process.pid}`;
      const server = spawn('perl', [
        '-MSocket',
        '-e',
        'socket(S, AF_UNIX, SOCK_DGRAM, 0) && bind(S, pack_sockaddr_un(chr(0) . shift)) or die; $| = 1; print "up\n"; recv(S, $_, 9, 0); print "reached\n"',
        name,
      ]);
      onTestFinished(() => void server.kill('SIGKILL'));
      await once(server.stdout, 'data');
      let heard = '';
      server.stdout.on('data', (data) => {
        heard += data;
      });
      const { output } = await place.attempt(
        `perl -MSocket -e 'for (SOCK_DGRAM, SOCK_DGRAM | SOCK_CLOEXEC, SOCK_RAW, SOCK_STREAM) { socketpair(A, B, AF_UNIX, $_, 0) or next; print "pair\n"; send(A, "hello", 0, pack_sockaddr_un(chr(0) . "${name}")) and print "sent\n" } print "end\n"'`,
        'network',
      );
      expect({ output, heard }).toEqual({ output: 'pair\nend\n', heard: '' });
    });

    test('commands read of the home folder the tools, and what the owner lists', async () => {
      const place = await freshWorkspace({ isHeld, readable: ['.config/listed'] });
      const { output } = await place.attempt(
        'cd ~; cat .cargo/bin/tool .config/listed .config/other .cargo/credentials.toml 2>/dev/null',
      );
      expect(output).toBe('a tool\nlisted\n');
    });

    test('commands have a home folder, though it is empty', async () => {
      const place = await freshWorkspace({ isHeld });
      await promisify(execFile)('rm', ['-rf', place.path('home')]);
      const { output } = await place.attempt('cd ~ && pwd');
      expect(output).toBe(`${place.path('home')}\n`);
    });

    test('a fork bomb ends at a number of processes, and a greedy program at its memory', async () => {
      const place = await freshWorkspace({ isHeld });
      const bomb = 'for i in $(seq 1500); do sleep 5 & done 2>/dev/null; jobs -r | wc -l';
      const { output } = await place.attempt(`bash -c '${bomb}' 2>/dev/null | tail -1`);
      expect(Number(output.trim() || '0')).toBeLessThan(1_100);
      const { output: memory } = await place.attempt(
        'ulimit -d; df --output=size -BM /tmp /dev/shm | tail -2',
      );
      expect(memory).toBe('4194304\n    1024M\n     256M\n');
    });
  });
}
