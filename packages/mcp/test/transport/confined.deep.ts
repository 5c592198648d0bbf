import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { type Confinement, unconfined } from '../../../sandbox/launch/confinement.ts';
import type { Launch } from '../../../sandbox/terminal/launch.ts';
import { guardedWorkspace } from '../../../sandbox/test/quarantine/guarded-workspace.ts';
import {
  freshWorkspace,
  NO_BUBBLEWRAP,
  realConfinement,
} from '../../../sandbox/test/sandboxed-workspace.ts';
import { run } from '../../../sandbox/test/terminal/plain-launch.ts';
import { FIXTURE, startServers } from '../offering.ts';

/** A server without packages, which the sandbox would not show. Its one tool tries what its arguments name. */
const SCRIPT = `
const { writeFileSync, readFileSync, mkdirSync } = require('node:fs');
const attempts = {
  write: () => writeFileSync('made.txt', 'made'),
  secret: () => readFileSync(process.env.HOME + '/.ssh/id_ed25519', 'utf8'),
  editor: () => writeFileSync('.vscode/settings.json', '{"a":1}'),
  outside: () => writeFileSync('../outside/file', 'touched'),
  variables: () => JSON.stringify(process.env),
  network: () => fetch('http://127.0.0.1:' + process.env.PORT),
};
const text = (said) => ({ content: [{ type: 'text', text: String(said) }] });
const send = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
console.error('I am here');
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') send(id, { protocolVersion: params.protocolVersion,
    capabilities: { tools: {} }, serverInfo: { name: 'held', version: '1' } });
  if (method === 'tools/list') send(id, { tools: [{ name: 'try', inputSchema: { type: 'object' } }] });
  if (method === 'server/discover')
    console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } }));
  if (method !== 'tools/call') return;
  try { send(id, text((await attempts[params.arguments.what]()) ?? 'done')); }
  catch (error) { send(id, text('failed: ' + (error.cause ?? error).code)); }
});
`;

describe.skipIf(NO_BUBBLEWRAP)(`a server in the sandbox ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('writes the workspace, and reaches neither secrets, settings nor the network', async () => {
    const { root, place, guard } = await guardedWorkspace();
    const { confinement } = place;
    await place.put('workspace/server.cjs', SCRIPT);
    const server = { command: await place.node(), args: ['server.cjs'], sandbox: true };
    const { until, call, end } = startServers(
      { held: { ...server, env: { PORT: '9' } } },
      { workspace: root, sandbox: { confinement, guard } },
    );
    await until('mcp_held_try');
    const tried = async (what: string) => (await call('mcp_held_try', { what })).data;
    expect(await tried('write')).toBe('done');
    expect(await place.text('workspace/made.txt')).toBe('made');
    expect(await tried('secret')).toMatch(/^failed/);
    expect(await tried('editor')).toMatch(/^failed/);
    expect(await tried('outside')).toMatch(/^failed/);
    expect(await tried('network')).toMatch(/^failed/);
    expect(await place.text('outside/file')).toBe('untouched\n');
    await end();
  });

  it('has its variables inside only: no program that makes the sandbox gets one', async () => {
    const { root, place, guard } = await guardedWorkspace();
    await place.put('workspace/server.cjs', SCRIPT);
    const launches: Launch[] = [];
    const confinement: Confinement = {
      ...place.confinement,
      start: (request, start) =>
        place.confinement.start(request, (command) => {
          launches.push(command.launch);
          return start(command);
        }),
    };
    const env = { ...variables(root), PATH: '/usr/bin:/bin', HOME: root };
    const server = { command: await place.node(), args: ['server.cjs'], sandbox: true, env };
    const servers = startServers(
      { held: server },
      { workspace: root, sandbox: { confinement, guard } },
    );
    await servers.until('mcp_held_try');
    const { data } = await servers.call('mcp_held_try', { what: 'variables' });
    expect(JSON.parse(String(data))).toMatchObject(env);
    const [launch] = launches;
    expect(Object.keys(launch?.env ?? {})).not.toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^(?:LD_|MALLOC_|GLIBC_|GCONV_|LOC|KEY|l$|v$)/),
      ]),
    );
    expect(launch?.env['HOME']).not.toBe(root);
    expect(JSON.stringify(launch?.args)).not.toContain('sk-');
    await servers.end();
  });

  it.each([false, true])('a program gets them in each kind of sandbox (%s)', async (isHeld) => {
    const place = await freshWorkspace({ isHeld });
    const cwd = place.path('workspace');
    const given = variables(cwd);
    const command = `${await place.node()} -p "JSON.stringify(process.env)"; ls -l /proc/$$/fd; :`;
    const request = { command, cwd, permissions: [], variables: given };
    const { output } = await place.confinement.start(request, ({ launch }) => run(launch));
    const [first = '', ...descriptors] = output.trim().split('\n');
    expect(JSON.parse(first)).toMatchObject(given);
    expect(descriptors.filter((line) => / [3-9] ->/.test(line))).toEqual([]);
  });

  it.each([{ 'a;b': 'x' }, { '': 'x' }, { A: 'x\0y' }])(
    'refuses the variable %o',
    async (given) => {
      const place = await freshWorkspace();
      const request = {
        command: ':',
        cwd: place.path('workspace'),
        permissions: [],
        variables: given,
      };
      const started = place.confinement.start(request, ({ launch }) => run(launch));
      await expect(started).rejects.toThrow('cannot have the variable');
    },
  );

  it('with all permissions the shell’s own variables reach the command, and not bubblewrap', async () => {
    const place = await freshWorkspace();
    const cwd = place.path('workspace');
    const own = { PATH: process.env['PATH'], LD_BIND_NOW: '1', MULTI: "a 'b'\nc", EMPTY_ONE: '' };
    using confinement = await realConfinement({ ...place.surroundings, environment: own });
    const request = { command: 'env', cwd, permissions: ['all' as const] };
    const { output } = await confinement.start(request, ({ launch }) => {
      expect(launch.env).toEqual({});
      expect(launch.args.join(' ')).not.toContain('LD_BIND_NOW');
      return run(launch);
    });
    expect(output).toContain("MULTI=a 'b'\nc\n");
    expect(output).toContain('EMPTY_ONE=\n');
    expect(output).toContain('LD_BIND_NOW=1\n');
  });
});

/** What makes a loader or a library load code, a key, and what a shell could read otherwise. */
function variables(workspace: string): Record<string, string> {
  return {
    LD_LIBRARY_PATH: `${workspace}/lib`,
    GLIBC_TUNABLES: 'glibc.malloc.check=0',
    GCONV_PATH: workspace,
    LOCPATH: workspace,
    MALLOC_ARENA_MAX: '1',
    LD_BIND_NOW: '1',
    KEY: 'sk-1',
    l: 'small',
    v: 'value',
    EMPTY: '',
    QUOTED: `'"$HOME\`id\`\\`,
    LINES_: 'sk-2\n\n  two \\\n',
    NAMES: 'Ünïcode \u{1f600} \u0001\u007f',
  };
}

it('without a sandbox it does not start, and says why', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const none = {
    workspace: '/',
    home: '/',
    closedFolders: [],
    maskFolder: '/tmp/masks',
    environment: {},
  };
  const confinement = unconfined(none, 'bubblewrap is not installed');
  const guard = {} as never;
  const { folder, reports } = startServers(
    { held: { ...FIXTURE, sandbox: true, env: { MARK: 'x' } } },
    { sandbox: { confinement, guard } },
  );
  await vi.waitFor(() =>
    expect(reports()).toMatchObject([
      { state: 'down', reason: expect.stringContaining('bubblewrap is not installed') },
    ]),
  );
  expect(existsSync(`${folder}/made.txt`)).toBe(false);
});
