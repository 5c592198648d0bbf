import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServers } from '../../packages/mcp/test/offering.ts';
import { guardedWorkspace } from '../../packages/sandbox/test/quarantine/guarded-workspace.ts';
import { NO_BUBBLEWRAP } from '../../packages/sandbox/test/sandboxed-workspace.ts';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { sendAllowing } from '../flow/allowing.ts';
import { type House, startHouse, until } from '../flow/house.ts';
import { type ForeignPackages, installPackages, NO_REGISTRY } from './foreign-packages.ts';
import { row } from './table.ts';

const VERSION = '2026.8.31';

interface Foreign {
  readonly server: string;
  readonly args: readonly string[];
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly says: RegExp;
}

const SERVERS: readonly Foreign[] = [
  {
    server: 'everything',
    args: ['stdio'],
    tool: 'get-sum',
    arguments: { a: 20, b: 22 },
    says: /42/,
  },
  {
    server: 'filesystem',
    // It takes the MCP root as its folder.
    args: [],
    tool: 'list_directory',
    arguments: { path: '.' },
    says: /notes\.md/,
  },
  {
    server: 'memory',
    args: [],
    tool: 'create_entities',
    arguments: { entities: [{ name: 'bridge', entityType: 'thing', observations: ['is down'] }] },
    says: /is down/,
  },
  {
    server: 'sequential-thinking',
    args: [],
    tool: 'sequentialthinking',
    arguments: {
      thought: 'One step.',
      nextThoughtNeeded: false,
      thoughtNumber: 1,
      totalThoughts: 1,
    },
    says: /thoughtNumber/,
  },
];

const nameOf = ({ server, tool }: Foreign) => `mcp_${server}_${tool}`;

const ofOthers = (how: string, notRun: string | undefined) =>
  row({ suite: `MCP servers of modelcontextprotocol ${how}`, version: VERSION, notRun });
const inSandbox = ofOthers('in the sandbox', NO_REGISTRY ?? NO_BUBBLEWRAP);

describe('MCP servers of other authors', ofOthers('as sources of tools', NO_REGISTRY), () => {
  let packages: ForeignPackages;
  let model: Awaited<ReturnType<typeof startScriptedModel>>;
  let house: House;

  beforeAll(async () => {
    packages = await installPackages(
      SERVERS.map(({ server }) => `@modelcontextprotocol/server-${server}@${VERSION}`),
    );
    model = await startScriptedModel(({ messages }) => {
      const asked = JSON.stringify(messages.at(-1));
      const wanted = SERVERS.find(({ server }) => asked.includes(`Use ${server}.`));
      return wanted
        ? { calls: [{ name: nameOf(wanted), arguments: wanted.arguments }] }
        : { text: 'Over.' };
    });
    house = await startHouse({
      modelUrl: model.baseUrl,
      isOfBridge: true,
      prepare: (workspace) => writeFileSync(join(workspace, 'notes.md'), 'Notes\n'),
    });
    mkdirSync(house.state, { recursive: true });
    const mcpServers = Object.fromEntries(
      SERVERS.map(({ server, args }) => [
        server,
        { command: packages.program(`mcp-server-${server}`), args },
      ]),
    );
    writeFileSync(join(house.state, 'mcp.json'), JSON.stringify({ mcpServers }));
  });
  afterAll(async () => {
    await house[Symbol.asyncDispose]();
    await model.close();
    await packages[Symbol.asyncDispose]();
  });

  it.each(SERVERS)('$server is offered, and its $tool used', async (foreign) => {
    await until(async () => {
      await sendAllowing(house, 'Hello');
      return JSON.stringify(model.requests.at(-1)?.tools ?? []).includes(nameOf(foreign));
    });
    const { response, asked } = await sendAllowing(house, `Use ${foreign.server}.`);
    expect(asked).toHaveLength(1);
    expect(response.documents[0]).toMatchObject({
      type: 'tool_call',
      metadata: {
        toolName: nameOf(foreign),
        result: { status: 'success', data: expect.stringMatching(foreign.says) },
      },
    });
  });
});

describe('the same servers in the sandbox', inSandbox, () => {
  it('start from the workspace, with its path as an argument, and work on it', async () => {
    const names = SERVERS.map(({ server }) => `@modelcontextprotocol/server-${server}@${VERSION}`);
    await using packages = await installPackages(names);
    const { root, place, guard } = await guardedWorkspace();
    cpSync(join(packages.folder, 'node_modules'), join(root, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await place.put('workspace/notes.md', 'Notes\n');
    const servers = SERVERS.map(({ server, args }) => {
      const command = `${root}/node_modules/.bin/mcp-server-${server}`;
      const env = { MEMORY_FILE_PATH: `${root}/memory.json` };
      return [server, { command, args: [...args, root], env, sandbox: true }];
    });
    const npx = ['--no', '--', 'mcp-server-filesystem', '.'];
    const { until: offered, call } = startServers(
      {
        ...Object.fromEntries(servers),
        npx: { command: 'npx', args: npx, sandbox: true },
      },
      { workspace: root, sandbox: { confinement: place.confinement, guard } },
    );
    for (const foreign of [...SERVERS, { ...SERVERS[1], server: 'npx' } as Foreign]) {
      await offered(nameOf(foreign));
      const { status, data } = await call(nameOf(foreign), foreign.arguments);
      expect({ status, data }).toMatchObject({
        status: 'success',
        data: expect.stringMatching(foreign.says),
      });
    }
    expect(await place.text('workspace/memory.json')).toContain('is down');
  });
});
