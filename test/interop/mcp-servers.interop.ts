import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startScriptedModel } from '../far-ends/scripted-model.ts';
import { sendAllowing } from '../flow/allowing.ts';
import { type House, startHouse, until } from '../flow/house.ts';
import { type ForeignPackages, installPackages } from './foreign-packages.ts';

const VERSION = '2026.8.31';

interface Foreign {
  readonly server: string;
  readonly args: (folder: string) => string[];
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
  readonly says: RegExp;
}

const SERVERS: readonly Foreign[] = [
  {
    server: 'everything',
    args: () => ['stdio'],
    tool: 'get-sum',
    arguments: { a: 20, b: 22 },
    says: /42/,
  },
  {
    server: 'filesystem',
    args: (folder) => [folder],
    tool: 'list_directory',
    arguments: { path: '.' },
    says: /notes\.md/,
  },
  {
    server: 'memory',
    args: () => [],
    tool: 'create_entities',
    arguments: { entities: [{ name: 'bridge', entityType: 'thing', observations: ['is down'] }] },
    says: /is down/,
  },
  {
    server: 'sequential-thinking',
    args: () => [],
    tool: 'sequentialthinking',
    arguments: {
      ...{ thought: 'One step.', nextThoughtNeeded: false },
      ...{ thoughtNumber: 1, totalThoughts: 1 },
    },
    says: /thoughtNumber/,
  },
];

const nameOf = ({ server, tool }: Foreign) => `mcp_${server}_${tool}`;

describe('MCP servers that nobody here wrote, as sources of tools', () => {
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
      prepare: (workspace) => writeFileSync(join(workspace, 'notes.md'), 'Notes\n'),
    });
    mkdirSync(house.state, { recursive: true });
    const mcpServers = Object.fromEntries(
      SERVERS.map(({ server, args }) => [
        server,
        { command: packages.program(`mcp-server-${server}`), args: args(house.workspace) },
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
