import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CommandRequest, Confinement } from '../../launch/confinement.ts';
import { explainStart, selfTest } from '../../proof/self-test.ts';
import { spawnLaunch } from '../../terminal/spawn-launch.ts';
import { COMMIT, freshWorkspace, git, type SandboxedWorkspace } from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';
import { NO_RUNTIME, runtimeOnLinux } from './runtime-on-linux.ts';

interface Place extends SandboxedWorkspace {
  readonly runtime: Confinement;
  /** What a command printed, and how it ended. */
  readonly tried: (
    command: string,
    request?: Partial<CommandRequest>,
    options?: Parameters<typeof run>[1],
  ) => Promise<Awaited<ReturnType<typeof run>> & { readonly limits: string }>;
}

async function freshPlace(
  prepare: (place: SandboxedWorkspace) => Promise<unknown> = async () => {},
): Promise<Place> {
  const place = await freshWorkspace();
  await prepare(place);
  const runtime = await runtimeOnLinux(place);
  const cwd = place.surroundings.workspace;
  return {
    ...place,
    runtime,
    tried: async (command, request = {}, options = {}) =>
      await runtime.start(
        { command, cwd, permissions: [], ...request },
        async ({ launch, limits }) => ({ ...(await run(launch, options)), limits }),
      ),
  };
}

describe.skipIf(NO_RUNTIME)(`a command in sandbox-runtime ${NO_RUNTIME ?? ''}`, () => {
  test('passes the self-test', async () => {
    const { runtime, account, surroundings } = await freshPlace();
    expect(await selfTest(runtime, account, surroundings)).toBeUndefined();
  });

  test('fails what only Seatbelt holds, which the probes for macOS ask', async () => {
    const { runtime, account, surroundings } = await freshPlace();
    const failure = await selfTest(runtime, account, surroundings, 'darwin');
    expect(failure).toMatch(
      /^The sandbox failed its self-test: .*\/late\/.Git\/config was written.$/,
    );
  });

  test('works in the workspace and in a folder for temporary files', async () => {
    const { tried, text } = await freshPlace();
    const { end, output, limits } = await tried(
      'mkdir new && echo made > new/file && cat readme && git log --format=%s && ' +
        'f=$(mktemp) && echo x > "$f" && cat "$f"',
    );
    expect({ end, output, limits, made: await text('workspace/new/file') }).toEqual({
      end: { state: 'exited', exitCode: 0 },
      output: 'hello\nfirst\nx\n',
      limits:
        'sandbox-runtime: writes only to the workspace, no network, .git read-only, ' +
        'a process that leaves its group goes on',
      made: 'made\n',
    });
  });

  test('gets no variable but those of a list and its own', async () => {
    const { tried } = await freshPlace();
    const { output } = await tried('env', { variables: { OWN: "it's\nhere", PATH: '/usr/bin' } });
    expect(output).toContain("OWN=it's\nhere\n");
    expect(output).toContain('PATH=/usr/bin\n');
    expect(output).not.toMatch(/secret|SANDBOX_RUNTIME|CLAUDE|VITEST/);
  });

  test.each([
    ['directly', 'echo changed > "$OUT"'],
    ['by ..', 'echo changed > ../outside/file'],
    ['through a symbolic link', 'ln -s "$OUT" link && echo changed > link'],
    ['through a hard link', 'ln "$OUT" hard && echo changed > hard'],
    ['by renaming over it', 'echo changed > new-file && mv -f new-file "$OUT"'],
    ['by deleting it', 'rm -f "$OUT"'],
  ])('does not change a file outside the workspace: %s', async (_, command) => {
    const { tried, path, text } = await freshPlace();
    const { output } = await tried(`OUT=${path('outside/file')}; ${command}; echo end`);
    expect(output).toContain('end\n');
    expect(await text('outside/file')).toBe('untouched\n');
  });

  test.each([
    ['a key', 'cat ~/.ssh/id_ed25519; ls ~/.ssh'],
    ['a token', 'cat ~/.npmrc ~/.cargo/credentials.toml'],
    ['the bridge’s own state', 'cat ../instances/state/devices.json'],
    ['the state of another instance', 'cat ../instances/other/auth-secret'],
    ['a secret of the workspace', 'cat .env; cp .env a; cat a; ln .env b; cat b; mv .env c; cat c'],
    ['a secret in another case', 'cat nested/Key.PEM'],
    ['what .cursorignore closes', 'cat private/plan; mv private other; cat other/plan'],
    ['what a secret’s name leads to', 'cat real; cp real copy; cat copy'],
  ])('cannot read %s', async (_, command) => {
    const { tried } = await freshPlace(async ({ put, path }) => {
      await put('workspace/nested/Key.PEM', 'secret\n');
      await put('workspace/private/plan', 'secret\n');
      await put('workspace/.cursorignore', 'private/\n');
      await put('workspace/real', 'secret\n');
      await symlink('../real', path('workspace/nested/.env'));
    });
    const { output } = await tried(`${command}; echo end`);
    expect(output).toMatch(/end\n$/);
    expect(output).not.toMatch(/secret( |$)|public|id_ed25519$/m);
  });

  test('reads an example of a secret, and the tools of the home folder', async () => {
    const { tried } = await freshPlace(({ put }) => put('workspace/.env.example', 'KEY=\n'));
    const { output } = await tried('cat .env.example ../home/.cargo/bin/tool');
    expect(output).toBe('KEY=\na tool\n');
  });

  test.each([
    ['a commit', `echo more >> readme && git add readme && ${COMMIT} -m second`],
    ['a configuration', 'git config core.fsmonitor "touch owned"'],
    ['a hook', 'echo "#!/bin/sh" > .git/hooks/post-checkout'],
    ['a removal', 'rm -rf .git; test ! -e .git/HEAD'],
    ['a move', 'mv .git elsewhere'],
    ['the editor’s settings', 'echo x > .vscode/settings.json'],
    ['the editor’s folder', 'mv .vscode elsewhere'],
  ])('does not change %s', async (_, command) => {
    const { tried, path, text } = await freshPlace();
    const { end } = await tried(command);
    expect(end).toEqual({
      state: 'exited',
      exitCode: expect.toSatisfy((code: number) => code !== 0),
    });
    expect(await git(path('workspace'), 'log', '--format=%s')).toBe('first\n');
    expect(await text('workspace/.vscode/settings.json')).toBe('{}\n');
  });

  test('with git_write commits as the person, and leaves settings and hooks as they are', async () => {
    const { tried, path } = await freshPlace(({ put }) =>
      put('home/.gitconfig', '[user]\nname = Ada\nemail = ada@example.com\n'),
    );
    const request = { permissions: ['git_write'] as const };
    const commit = 'echo more >> readme && git commit --quiet -am second';
    const { output, limits } = await tried(commit, request);
    expect({ output, limits }).toEqual({
      output: '',
      limits: expect.stringContaining('.git writable but for its settings and hooks'),
    });
    expect(await git(path('workspace'), 'log', '-1', '--format=%s %an %ae')).toBe(
      'second Ada ada@example.com\n',
    );
    const { end } = await tried('git config core.editor x || echo x > .git/hooks/y', request);
    expect(end).not.toEqual({ state: 'exited', exitCode: 0 });
  });

  test('reaches the network with the permission alone', async () => {
    const server = createServer((socket) => socket.end('host\n')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    const { tried } = await freshPlace();
    const line = `exec 5<>/dev/tcp/127.0.0.1/${port}; read -r said <&5; echo "$said"`;
    const [closed, open] = [await tried(line), await tried(line, { permissions: ['network'] })];
    expect(closed.output).not.toContain('host');
    expect([open.output, open.limits]).toEqual(['host\n', expect.stringContaining('network open')]);
  });

  test('for single hosts is not started', async () => {
    const { tried } = await freshPlace();
    const hosts = ['example.com'];
    await expect(tried('true', { hosts })).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
  });

  test('that may only read writes nothing', async () => {
    const { tried, text } = await freshPlace();
    const { output } = await tried('echo x > new; cat readme', { isReadOnly: true });
    expect([output, await text('workspace/new')]).toEqual([
      expect.stringMatching(/hello\n$/),
      undefined,
    ]);
  });

  test('keeps the errors of a server apart', async () => {
    const { runtime, surroundings } = await freshPlace();
    const about = { cwd: surroundings.workspace, permissions: [], isServer: true };
    const said = await runtime.start(
      { ...about, command: 'echo out; echo err >&2' },
      async ({ launch }) => {
        const { stdout, stderr } = spawnLaunch(launch, 'ignore').child;
        return await Promise.all([stdout, stderr].map((stream) => stream && textOf(stream)));
      },
    );
    expect(said).toEqual(['out\n', 'err\n']);
  });

  test('reports the folder and the variables of its shell', async () => {
    const { tried, path } = await freshPlace();
    const { output, shell } = await tried('mkdir sub; cd sub; export A=b; unset LANG; ls /dev/fd', {
      reportsShell: true,
    });
    expect(output.split('\n')).not.toContain('4');
    const variables = new Map([['A', 'b']]);
    expect(shell).toEqual({ folder: path('workspace/sub'), variables, unreadable: [] });
  });

  test('starts in its folder', async () => {
    const { tried, path } = await freshPlace(({ path: at }) => mkdir(at('workspace/at')));
    const { output } = await tried('pwd', { cwd: path('workspace/at') });
    expect(output).toBe(`${path('workspace/at')}\n`);
  });

  test('ends at its time limit, and when it is cancelled', async () => {
    const { tried } = await freshPlace();
    const late = await tried('sleep 60 & sleep 60', {}, { timeoutMs: 1_000 });
    const cancel = new AbortController();
    const running = tried(
      'echo begun; sleep 60',
      {},
      {
        signal: cancel.signal,
        onOutput: () => cancel.abort(),
      },
    );
    expect([late.end, (await running).end]).toEqual([
      { state: 'stopped', reason: 'timeout' },
      { state: 'stopped', reason: 'cancelled' },
    ]);
  });

  test('may be any text', async () => {
    const { tried } = await freshPlace();
    const command = `printf '%s\\n' "it's" '$(id) \`id\`' é; ${'#'.repeat(50_000)}`;
    const { output } = await tried(command);
    expect(output).toBe("it's\n$(id) `id`\né\n");
  });

  test('does not read a secret that has appeared since, nor open what others closed', async () => {
    const { tried, put, path, runtime } = await freshPlace();
    await tried('mkdir -p a && echo x > a/b');
    await put('workspace/a/.env', 'secret\n');
    await put('outside/.cursorignore', 'kept\n');
    await put('outside/kept', 'secret\n');
    using other = await runtime.elsewhere({ workspace: path('outside'), links: [] });
    const cwd = path('outside');
    const [here, there] = await Promise.all([
      tried('cat a/.env; mv a c; cat c/.env; echo x > ../outside/new'),
      other.start(
        { command: 'cat file kept; cat ../workspace/a/b', cwd, permissions: [] },
        (made) => run(made.launch),
      ),
    ]);
    expect([here.output, there.output].join('')).not.toMatch(/secret$|^x$/m);
    expect(there.output).toContain('untouched\n');
    expect(existsSync(path('outside/new'))).toBe(false);
  });

  test('of another folder sees neither the workspace nor its temporary files', async () => {
    const { runtime, put, path } = await freshPlace();
    await put('instances/state/worktrees/one/file', 'apart\n');
    const folder = path('instances/state/worktrees/one');
    using there = await runtime.elsewhere({ workspace: folder, links: [] });
    const command =
      'cat file; cat ../../devices.json; echo x > y && cat y; ls ../../../../workspace';
    const request = { command, cwd: folder, permissions: [] };
    const { output } = await there.start(request, ({ launch }) => run(launch));
    expect(output).toContain('apart\n');
    expect(output).toContain('x\n');
    expect(output).not.toMatch(/secret|readme/);
  });

  test('is confined too where it is a program of ours that looks', async () => {
    const place = await freshPlace();
    const { runtime, surroundings, path } = place;
    const launch = {
      file: '/bin/sh',
      args: ['-c', 'cat readme; echo x > new; cat ../home/notes; echo "$A"'],
      cwd: surroundings.workspace,
      env: { A: 'given', PATH: '/usr/bin:/bin' },
      inputs: [],
      hasPidNamespace: false,
    };
    const { output } = await run(await runtime.confineLook(launch));
    expect(output).toMatch(/^hello\n/);
    expect(output).toContain('given\n');
    expect(output).not.toContain('public');
    const reach = { readable: [], writable: [path('outside')] };
    const writing = { ...launch, args: ['-c', 'echo changed > ../outside/file'] };
    await run(await runtime.confineLook(writing, reach));
    expect(await place.text('outside/file')).toBe('changed\n');
  });

  test('is not started after the end of its bridge', async () => {
    const { runtime, tried } = await freshPlace();
    runtime[Symbol.dispose]();
    await expect(tried('true')).rejects.toMatchObject({ code: 'SANDBOX_FAILED' });
  });
});

test('the reason why it does not start names the program', () => {
  expect(explainStart('sandbox-exec: no profile\n', 'sandbox-runtime')).toBe(
    'sandbox-runtime does not work here (sandbox-exec: no profile).',
  );
});
