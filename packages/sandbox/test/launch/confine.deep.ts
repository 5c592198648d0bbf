import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, readdir, symlink } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { probeConfinement } from '../../proof/confine.ts';
import {
  COMMIT,
  confinedTo,
  freshWorkspace,
  git,
  NO_BUBBLEWRAP,
  type SandboxedWorkspace,
  sandboxedWorkspace,
} from '../sandboxed-workspace.ts';
import { isAnyoneRunning, run } from '../terminal/plain-launch.ts';

describe.skipIf(NO_BUBBLEWRAP)(`a command in bubblewrap ${NO_BUBBLEWRAP ?? ''}`, () => {
  let place: SandboxedWorkspace;
  let host: Server;
  let port: number;
  let connections = 0;

  beforeAll(async () => {
    place = await sandboxedWorkspace();
    host = createServer((socket) => {
      connections++;
      socket.end('host\n');
    });
    host.listen(0, '127.0.0.1');
    await once(host, 'listening');
    port = (host.address() as AddressInfo).port;
  });
  afterAll(async () => {
    host.close();
    await place.remove();
  });

  test('passes the self-test, which leaves nothing behind', async () => {
    const folders = ['workspace', 'workspace/.git', 'home', 'instances', '.'];
    const list = () => Promise.all(folders.map((name) => readdir(place.path(name))));
    const before = await list();
    using confinement = await probeConfinement(place.surroundings);
    const { kind, detail } = confinement;
    expect({ kind, detail, left: await list() }).toEqual({
      kind: 'bubblewrap',
      detail: expect.stringContaining('commands write only to the workspace'),
      left: before,
    });
  });

  test.skipIf(process.getuid?.() !== 0)(
    'runs beside a folder that its user cannot enter, which is closed as a whole',
    async () => {
      const { path, put, attempt } = place;
      const names = ['vault', 'later', 'shown'];
      for (const name of names) await put(`workspace/${name}/.env`, `KEY=${name}\n`);
      const close = async (name: string) => {
        await chown(path(`workspace/${name}`), 0, 0);
        await chmod(path(`workspace/${name}`), 0o700);
      };
      const read = `for each in ${names.join(' ')}; do cat $each/.env; ls -A $each; done; true`;
      await close('vault');
      const first = await attempt(read);
      await close('later');
      const second = await attempt(read);
      await chmod(path('workspace/vault'), 0o755);
      const third = await attempt(read);
      expect([first, second, third].map(({ end }) => end)).toEqual(
        Array.from({ length: 3 }, () => ({ state: 'exited', exitCode: 0 })),
      );
      const output = [first, second, third].map((outcome) => outcome.output).join('');
      expect(output).not.toContain('KEY=');
      expect([first, second, third].map(({ limits }) => limits)).toEqual([
        expect.stringContaining('cannot be looked into: "vault"'),
        expect.stringMatching(/cannot be looked into: "vault", "later"/),
        expect.stringContaining('cannot be looked into: "later"'),
      ]);
    },
  );

  test('works in the workspace with the programs of the system', async () => {
    const { end, output } = await place.attempt(
      'mkdir -p new && echo made > new/file && cat readme && git log --format=%s',
    );
    expect({ end, output, made: await place.text('workspace/new/file') }).toEqual({
      end: { state: 'exited', exitCode: 0 },
      output: 'hello\nfirst\n',
      made: 'made\n',
    });
  });

  test.each([
    ['directly', 'echo changed > "$OUT"'],
    ['by ..', 'echo changed > ../outside/file'],
    ['through a symbolic link', 'ln -s "$OUT" link && echo changed > link'],
    ['through a hard link', 'ln "$OUT" hard && echo changed > hard'],
    ['by renaming over it', 'echo changed > new-file && mv -f new-file "$OUT"'],
    ['by deleting it', 'rm -f "$OUT"'],
    ['by mounting over it', 'mount -t tmpfs none ../outside && echo changed > "$OUT"'],
    [
      'in namespaces of its own',
      'unshare --user --map-root-user --mount sh -c "mount -o remount,rw / && echo changed > $OUT"',
    ],
  ])('does not change a file outside the workspace: %s', async (_, command) => {
    const { output } = await place.attempt(
      `OUT=${place.path('outside/file')}; ${command}; echo end`,
    );
    expect(output).toContain('end\n');
    expect(await place.text('outside/file')).toBe('untouched\n');
  });

  test.each([
    ['a commit', `echo more >> readme && git add readme && ${COMMIT} -m second`],
    ['a configuration', 'git config core.fsmonitor "touch owned"'],
    ['a hook', 'echo "#!/bin/sh" > .git/hooks/post-checkout'],
    ['a removal', 'rm -rf .git'],
    ['a move', 'mv .git elsewhere'],
    ['a nested repository', 'cd nested && git config core.pager "touch owned"'],
    ['a linked worktree', 'cd worktree && echo more > more && git add more'],
  ])('does not change git’s own files: %s', async (_, command) => {
    const nested = await freshWorkspace();
    await git(nested.base, 'init', '--quiet', 'workspace/nested');
    await git(nested.path('workspace'), 'worktree', 'add', '--quiet', 'worktree');
    const before = await fingerprint(nested);
    const { end } = await nested.attempt(command);
    expect({ end, after: await fingerprint(nested) }).toEqual({
      end: { state: 'exited', exitCode: expect.toSatisfy((code) => code !== 0) },
      after: before,
    });
  });

  test.each([
    ['a key', 'cat ~/.ssh/id_ed25519'],
    ['the list of keys', 'ls ~/.ssh'],
    ['a token', 'cat ~/.npmrc'],
    ['the bridge’s own state', 'ls ../instances/state; cat ../instances/state/devices.json'],
    ['the state of another instance', 'cat ../instances/other/auth-secret'],
    ['a file of the home folder that is not listed', 'cat ~/notes; ls -A ~'],
    ['a secret file of the workspace', 'cat .env'],
    ['a secret by another name', 'cp .env copy && cat copy; ln .env hard && cat hard'],
    ['a secret in the environment', 'env; cat /proc/self/environ'],
  ])('cannot read %s', async (_, command) => {
    const { output } = await place.attempt(command);
    expect(output).not.toMatch(/secret( |$)|public|id_ed25519$|devices\.json$|notes$/m);
  });

  test.each([
    [
      'names that are only nearly protected',
      'for name in .GIT .GIt .GiT; do for i in $(seq 120); do mkdir "$name"; name="$name."; done; done',
    ],
    ['files in front of them', 'for i in $(seq 20001); do : > "!$i"; done'],
    [
      'repositories in front of them',
      'for i in $(seq 310); do mkdir -p "!$i/.git"; done; mkdir far; mv nested far/nested',
    ],
  ])('finds closed what was closed before, however many it makes: %s', async (_, flood) => {
    const fresh = await freshWorkspace();
    await git(fresh.base, 'init', '--quiet', 'workspace/nested');
    await fresh.attempt('true');
    await fresh.attempt(flood);
    const { output } = await fresh.attempt(
      'cat .env; for git in .git nested/.git far/nested/.git; do echo x > $git/hooks/pre-commit; done; echo end',
    );
    expect(output).toMatch(/end\n$/);
    expect(output).not.toContain('secret');
    const names = ['.git', 'nested/.git', 'far/nested/.git'];
    const hooks = names.map((name) => fresh.text(`workspace/${name}/hooks/pre-commit`));
    expect(await Promise.all(hooks)).toEqual([undefined, undefined, undefined]);
  });

  test('is not held up by a pipe in the place of a .git file', async () => {
    const fresh = await freshWorkspace();
    await fresh.attempt('mkdir trap && mkfifo trap/.git');
    const { output } = await fresh.attempt('echo runs');
    expect(output).toBe('runs\n');
  });

  test('opens no socket to what lies below this machine', async () => {
    const script = 'import socket; socket.socket(socket.AF_VSOCK)';
    const { output } = await place.attempt(`python3 -c '${script}' || echo refused`, 'network');
    expect(output).toContain('refused');
  });

  test('can read but not change what configures an editor', async () => {
    const { output } = await place.attempt(
      'cat .vscode/settings.json; echo changed > .vscode/settings.json; rm -rf .vscode',
    );
    expect(output).toMatch(/^\{\}\n/);
    expect(await place.text('workspace/.vscode/settings.json')).toBe('{}\n');
  });

  test('reaches no server of the machine', async () => {
    const before = connections;
    const { output } = await place.attempt(
      `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3; echo end`,
    );
    expect({ connections, output }).toEqual({
      connections: before,
      output: expect.stringMatching(/refused[\s\S]*end\n$/),
    });
  });

  test('reaches no Unix socket, even one in the workspace', async () => {
    const socket = createServer((connection) => connection.end('host\n'));
    socket.listen(place.path('workspace/socket'));
    await once(socket, 'listening');
    const script = `require("net").connect("socket").on("data", String).on("error", (e) => console.log(e.code))`;
    const { output } = await place.attempt(`'${await place.node()}' -e '${script}'`, 'network');
    socket.close();
    expect(output).toBe('EPERM\n');
  });

  test('has a loopback of its own', async () => {
    const script = `
      const server = require("net").createServer((socket) => socket.end("own"));
      server.listen(0, "127.0.0.1", () => require("net").connect(server.address().port)
        .on("data", (data) => { console.log(String(data)); process.exit(); }));`;
    const { output } = await place.attempt(`'${await place.node()}' -e '${script}'`);
    expect(output).toBe('own\n');
  });

  test('whose shell reports its end has the variables that it was given, and none of ours', async () => {
    const { confinement, surroundings } = place;
    const report = async (variables: Readonly<Record<string, string>> = {}) => {
      const command =
        'echo "$# ${v-none} ${l-none} ${A-none}"; export B=1; cd /usr; no-such-program';
      const request = { command, cwd: surroundings.workspace, permissions: [], reportsShell: true };
      const start = confinement.start({ ...request, variables }, ({ launch }) => run(launch));
      const { output, shell } = await start;
      return [...output.split('\n'), shell?.folder, ...(shell?.variables ?? [])];
    };
    const left = ['', '/usr', ['B', '1']];
    const missing = (line: number) => `/bin/bash: line ${line}: no-such-program: command not found`;
    expect(await report()).toEqual([
      '0 none none none',
      expect.stringMatching(/: command not/),
      ...left,
    ]);
    const given = { v: "it's", l: '\n', A: '$B' };
    expect(await report(given)).toEqual(["0 it's ", ' $B', missing(2), ...left]);
  });

  test('sees and signals no process of the machine', async () => {
    const { output } = await place.attempt(`kill -0 ${process.pid}; ls -d /proc/${process.pid}`);
    expect(output.match(/No such/g)).toHaveLength(2);
  });

  test('sees no environment of the machine’s processes', async () => {
    const other = spawn('sleep', ['60'], { env: { TOKEN: 'secret of another' } });
    onTestFinished(() => void other.kill());
    const { output } = await place.attempt('cat /proc/*/environ | tr -d "\\0"; echo end');
    expect(output).toMatch(/end\n$/);
    expect(output).not.toContain('secret of another');
  });

  test('leaves no process, not even one in a session of its own', async () => {
    const marker = `34${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    await place.attempt(
      `sleep ${marker} & setsid sleep ${marker} & (setsid sh -c "sleep ${marker}; true" &); echo up`,
    );
    expect(await isAnyoneRunning(marker)).toBe(false);
  });

  test('a command ends only with its processes that print nothing', async () => {
    // They die with the namespace, soon after the program that was started for the command.
    for (let round = 0; round < 12; round++) {
      const marker = `38${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
      const worker = `(while :; do : ${marker}; done) >/dev/null 2>&1 &`;
      const permissions = round % 2 === 0 ? [] : (['all'] as const);
      await place.attempt(`${worker} ${worker} ${worker} ${worker} sleep 0.02`, ...permissions);
      expect(await isAnyoneRunning(marker)).toBe(false);
    }
  });

  test('that is cancelled while its sandbox is made leaves no process', async () => {
    const cwd = place.surroundings.workspace;
    const marker = `39${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    for (let round = 0; round < 40; round++) {
      const cancel = new AbortController();
      const request = { command: `sleep ${marker}`, cwd, permissions: [] };
      await place.confinement.start(request, ({ launch }) => {
        setTimeout(() => cancel.abort(), round / 4);
        return run(launch, { signal: cancel.signal });
      });
      expect(await isAnyoneRunning(marker)).toBe(false);
    }
  });

  test('may clean up when it is asked to end', async () => {
    const cwd = place.surroundings.workspace;
    const command = 'trap "echo cleaned; exit 0" TERM; echo ready; sleep 60 & wait';
    const cancel = new AbortController();
    const options = { signal: cancel.signal, onOutput: () => cancel.abort() };
    const { output } = await place.confinement.start({ command, cwd, permissions: [] }, (ready) =>
      run(ready.launch, options),
    );
    expect(output).toBe('ready\ncleaned\n');
  });

  test('dies with a bridge that is killed', async () => {
    const marker = `36${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
    const command = `setsid sleep ${marker} & echo up; sleep ${marker}`;
    const bridge = spawn(process.execPath, [KILLED_BRIDGE], { stdio: ['pipe', 'pipe', 'inherit'] });
    bridge.stdin.end(JSON.stringify({ surroundings: place.surroundings, command }));
    await once(bridge.stdout, 'data');
    bridge.kill('SIGKILL');
    await vi.waitFor(async () => expect(await isAnyoneRunning(marker)).toBe(false));
  });

  test('does not litter where there is nothing to protect', async () => {
    await place.attempt('true');
    const names = await readdir(place.path('home'));
    expect(names.sort()).toEqual(['.cargo', '.config', '.npmrc', '.ssh', 'notes']);
  });

  test('runs although a secret is a link to the whole disk', async () => {
    await symlink('/', place.path('workspace/broken.pem'));
    const { output } = await place.attempt('echo up');
    expect(output).toBe('up\n');
  });

  describe('with a permission', () => {
    test('for the network reaches servers, and writes nowhere else', async () => {
      const { output } = await place.attempt(
        `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3; echo changed > ../outside/file; git config a.b c`,
        'network',
      );
      expect(output).toMatch(/^host\n/);
      expect(await place.text('outside/file')).toBe('untouched\n');
      expect(await place.text('workspace/.git/config')).not.toContain('[a]');
    });

    test('for git commits, and has no network and no secrets', async () => {
      const before = connections;
      const { end, output } = await place.attempt(
        `git add readme; ${COMMIT} --allow-empty -m second; git log --format=%s -1;` +
          ` cat ~/.npmrc; exec 3<>/dev/tcp/127.0.0.1/${port}`,
        'git_write',
      );
      expect(end).toEqual({ state: 'exited', exitCode: 1 });
      expect(output).toMatch(/^second\n/);
      expect(output).not.toContain('secret');
      expect(connections).toBe(before);
    });

    test('for git commits as the person, whose settings it does not see', async () => {
      const own =
        '[credential]\n\thelper = secret\n[user]\n\tname = Ada\n\temail = ada@example.com\n';
      await place.put('home/.gitconfig', own);
      const commit = 'git commit -q --allow-empty -m x && git log -1 --format="%an <%ae> %cn"';
      const { output } = await place.attempt(commit, 'git_write');
      expect(output).toBe('Ada <ada@example.com> Ada\n');
      expect((await place.attempt('cat ~/.gitconfig')).output).not.toContain('secret');
      const other = await place.attempt(commit.replace('git ', 'git -c user.name=B '), 'git_write');
      expect(other.output).toBe('B <ada@example.com> B\n');
      await place.put('home/.gitconfig', '');
      const without = await place.attempt(commit, 'git_write');
      expect(without.output).toBe('Drawbridge <drawbridge@localhost> Drawbridge\n');
    });

    test('for git opens the repository of a linked worktree', async () => {
      const linked = await freshWorkspace();
      await git(linked.path('workspace'), 'worktree', 'add', '--quiet', '../linked');
      const inLinked = await confinedTo(linked, 'linked');
      const command = `${COMMIT} --allow-empty -m linked && git log --format=%s -1`;
      expect(await inLinked(command, ['git_write'])).toBe('linked\n');
      expect(await inLinked(command, [])).toContain('Read-only file system');
    });

    test('for git does not open a repository that a command only claims as its own', async () => {
      const linked = await freshWorkspace();
      await git(linked.base, 'init', '--quiet', 'other');
      await linked.put('claimed/.git', 'gitdir: ../other/.git\n');
      const inClaimed = await confinedTo(linked, 'claimed');
      expect(await inClaimed('git config a.b c', ['git_write'])).toContain('not a git repository');
    });

    test('for all is open, but for our own state, and still leaves no process', async () => {
      const marker = `35${randomUUID().replace(/\D/g, '').slice(0, 8)}`;
      const { output } = await place.attempt(
        `setsid sleep ${marker} & cat ../home/.npmrc; ls ../instances; echo changed > ../outside/file; echo $API_TOKEN`,
        'all',
      );
      expect(output).toBe('secret of npm\nsecret token\n');
      expect(await place.text('outside/file')).toBe('changed\n');
      expect(await isAnyoneRunning(marker)).toBe(false);
    });
  });
});

const KILLED_BRIDGE = join(import.meta.dirname, 'killed-bridge.ts');

/** What a command may not have changed of the repositories. */
async function fingerprint(place: SandboxedWorkspace): Promise<unknown> {
  const names = ['HEAD', 'config', 'index', 'logs/HEAD', 'worktrees/worktree/index'];
  const files = [...names.map((name) => `.git/${name}`), 'nested/.git/config', 'worktree/.git'];
  return {
    hooks: await readdir(place.path('workspace/.git/hooks')),
    files: await Promise.all(files.map((name) => place.text(`workspace/${name}`))),
  };
}
