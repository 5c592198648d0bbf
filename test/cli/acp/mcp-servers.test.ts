import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServer } from '@agentclientprotocol/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { findMissing, takeServer } from '../../../cli/acp/mcp-servers.ts';

const notes: McpServer = {
  name: 'notes',
  command: 'npx',
  args: ['-y', 'notes'],
  env: [{ name: 'KEY', value: 's3cret' }],
};
const far: McpServer = { type: 'http', name: 'far', url: 'https://far.test/mcp', headers: [] };

/** A bridge's folder with this list. */
function bridgeWith(mcpServers: object) {
  const stateDir = mkdtempSync(join(tmpdir(), 'drawbridge-acp-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  writeFileSync(join(stateDir, 'mcp.json'), JSON.stringify({ mcpServers }));
  return { bridgeId: 'bridge_1', stateDir };
}

const LISTED = {
  notes: { command: 'npx', args: ['-y', 'notes'], env: { KEY: 's3cret' } },
  far: { url: 'https://far.test/mcp' },
};

it.each<[string, object, string[], string[]]>([
  ['none is listed', {}, ['notes', 'far'], []],
  ['both are listed as the editor has them', LISTED, [], []],
  [
    'one has another definition, and one is disabled',
    {
      notes: { ...LISTED.notes, args: ['-y', 'notes', '--all'] },
      far: { ...LISTED.far, disabled: true },
    },
    [],
    ['notes', 'far'],
  ],
  ['another name has the definition', { other: LISTED.far, notes: LISTED.notes }, ['far'], []],
])('where %s, asks about new names alone', async (_, list, asked, noticed) => {
  const { proposed, notice } = await findMissing([notes, far], bridgeWith(list));
  expect(proposed.map(({ name }) => name)).toEqual(asked);
  const commands = ['notes', 'far'].filter((name) => notice?.includes(`mcp add ${name} `));
  expect(commands).toEqual(noticed);
  expect(notice ?? '').not.toContain('s3cret');
});

it('asks about no server whose definition the list would take in another way', async () => {
  const odd: McpServer[] = [
    { ...notes, name: 'fills', args: ['${HOME}'] },
    { type: 'sse', name: 'old', url: 'https://old.test/sse', headers: [] },
    { ...notes, name: 'no name' },
    { type: 'http', name: 'odd', url: 'ftp://odd.test', headers: [] },
  ];
  const { proposed, notice } = await findMissing(odd, bridgeWith({}));
  expect(proposed).toEqual([]);
  for (const { name } of odd) expect(notice).toContain(name);
});

it('a bridge elsewhere is not changed from here', async () => {
  const { proposed, notice } = await findMissing([notes], undefined);
  expect(proposed).toEqual([]);
  expect(notice).toContain('mcp add notes ');
});

it('a yes lists the definition as it was shown, and no other one under a name that came meanwhile', async () => {
  const own = bridgeWith({});
  const { proposed } = await findMissing([notes, far], own);
  const mine = { url: 'https://mine.test/mcp' };
  const file = join(own.stateDir, 'mcp.json');
  writeFileSync(file, JSON.stringify({ mcpServers: { far: mine } }));
  for (const server of proposed) await takeServer(server);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
    mcpServers: { far: mine, notes: LISTED.notes },
  });
  expect(await findMissing([notes], own)).toEqual({ proposed: [], notice: undefined });
});

it('an editor without servers is asked nothing', async () => {
  expect(await findMissing([], undefined)).toEqual({ proposed: [], notice: undefined });
});
