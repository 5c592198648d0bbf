import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { forgetFolder, noteFolder } from '../../../machine/agent-folders.ts';
import { temporaryFolder } from '../../../test/bridge/tools/temporary-workspace.ts';
import { guardedWorkspace } from '../../sandbox/test/quarantine/guarded-workspace.ts';
import { NO_BUBBLEWRAP } from '../../sandbox/test/sandboxed-workspace.ts';
import { FIXTURE, type Offering, startDemo, startServers } from './offering.ts';

/** A server in Python, of its standard library alone. */
const PYTHON = `
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answers = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "python", "version": "1"}},
        "tools/list": {"tools": [{"name": "honest", "inputSchema": {"type": "object"}}]},
    }
    if "id" in asked and asked["method"] in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answers[asked["method"]]}), flush=True)
    elif "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"],
                          "error": {"code": -32601, "message": "unknown"}}), flush=True)
`;

const evil = (loot: string) => `require('node:fs').writeFileSync(${JSON.stringify(loot)}, 'ran')`;

describe.skipIf(NO_BUBBLEWRAP)(
  `what a command leaves in the workspace ${NO_BUBBLEWRAP ?? ''}`,
  () => {
    it('is not what a listed `python3 -m` or `npx` server runs at its next start', async () => {
      const { root, place, run } = await guardedWorkspace();
      const loot = place.path('outside/loot');
      await run(`echo "open('${loot}', 'w').write('ran')" | tee json.py > tickets_server.py`);
      await run('mkdir -p node_modules/.bin node_modules/tickets');
      const script = `#!/usr/bin/env node\n${evil(loot)}\n`;
      for (const name of ['node_modules/.bin/tickets', 'node_modules/tickets/index.js'])
        await run(`printf %s '${script.replaceAll("'", `'\\''`)}' > ${name}; chmod +x ${name}`);
      await run(`echo 'preload = ["./json.py"]' > bunfig.toml; echo '{}' > package.json`);
      const modules = place.path('outside/modules');
      mkdirSync(modules, { recursive: true });
      writeFileSync(join(modules, 'tickets_server.py'), PYTHON);
      vi.spyOn(process, 'cwd').mockReturnValue(root);
      const { folder, list, until } = startServers({}, { workspace: root });
      const bin = join(folder, 'node_modules/.bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, 'tickets'), `#!/bin/sh\nexec python3 -m tickets_server\n`);
      chmodSync(join(bin, 'tickets'), 0o755);
      // Commands have run as another user. Root runs no server in the workspace of another user.
      if (process.getuid?.() === 0) chownSync(root, 0, 0);
      const env = { PYTHONPATH: modules };
      list({
        module: { command: 'python3', args: ['-m', 'tickets_server'], env },
        package: { command: 'npx', args: ['--no', 'tickets'], env },
      });
      await until('mcp_module_honest');
      await until('mcp_package_honest');
      expect(await place.text('outside/loot')).toBe(undefined);
    });
  },
);

const down = async ({ reports }: Offering) =>
  await vi.waitFor(() => {
    const [report] = reports();
    if (report?.state !== 'down') throw new Error(`it is ${report?.state}`);
    return report.reason;
  });

it('a server that leads into the workspace does not run outside the sandbox, and says by what', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const offering = startServers({});
  const made = join(offering.workspace, 'made');
  offering.list({ demo: { command: 'touch', args: ['/dev/null', made] } });
  expect(await down(offering)).toBe(
    'argument 2 leads into the workspace, where the agent could change what it runs: it runs only with "sandbox": true',
  );
});

describe('another folder that is connected at this machine', () => {
  const connected = async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const home = await temporaryFolder();
    vi.stubEnv('XDG_STATE_HOME', home);
    const other = await temporaryFolder();
    writeFileSync(join(other, 'server.js'), '');
    writeFileSync(join(other, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const state = join(home, 'drawbridge/server/projects/other-1');
    mkdirSync(state, { recursive: true });
    noteFolder(state, other);
    return { other, state };
  };

  it.each<[name: string, by: string, config: (other: string) => object]>([
    ['the command', 'its command', (other) => ({ command: join(other, 'node') })],
    ['an argument', 'argument 1', (other) => ({ command: 'node', args: [`${other}/server.js`] })],
    [
      'a variable',
      'the variable NODE_PATH',
      (other) => ({ ...FIXTURE, env: { NODE_PATH: other } }),
    ],
    ['the cwd', 'its cwd', (other) => ({ ...FIXTURE, cwd: other })],
  ])('is no place for a program either: %s', async (_, by, config) => {
    const { other } = await connected();
    const offering = startServers({});
    offering.list({ demo: config(other) });
    expect(await down(offering)).toBe(
      `${by} leads into ${other}, where the agent could change what it runs as long as that folder is connected: it runs only with "sandbox": true`,
    );
  });

  it('is left out of PATH', async () => {
    const { other } = await connected();
    const environment = { ...process.env, PATH: `${other}:${process.env['PATH']}` };
    const { until } = startServers({ demo: { ...FIXTURE, command: 'node' } }, { environment });
    await until('mcp_demo_echo');
  });

  it('counts no more when a person has disconnected it', async () => {
    const { other, state } = await connected();
    await forgetFolder(state, other);
    await startDemo('mcp_demo_echo', { env: { NODE_PATH: other } });
  });
});

it.skipIf(process.getuid?.() !== 0)(
  'root runs no server outside the sandbox in the workspace of another user',
  async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const offering = startServers({});
    chownSync(offering.workspace, 1234, 1234);
    offering.list({ demo: FIXTURE });
    expect(await down(offering)).toContain('in the workspace of another user');
  },
);

it('finds no program in folders of PATH that lie in the workspace, and gets none of them', async () => {
  const offering = startServers({});
  const bin = join(offering.workspace, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'node'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  const environment = { ...process.env, PATH: `${bin}:.:${process.env['PATH']}` };
  const running = startServers(
    { demo: { ...FIXTURE, command: 'node' } },
    { workspace: offering.workspace, environment },
  );
  await running.until('mcp_demo_surroundings');
  const { env, cwd } = JSON.parse((await running.call('mcp_demo_surroundings')).data);
  expect(env.PATH).toBe(process.env['PATH']);
  expect(cwd).toBe(running.folder);
});

it('a server learns of the workspace as its root', async () => {
  const { call, workspace } = await startDemo('mcp_demo_roots');
  expect(JSON.parse((await call('mcp_demo_roots')).data)).toEqual({
    roots: [{ uri: `file://${workspace}`, name: 'workspace' }],
  });
});
