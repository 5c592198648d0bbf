import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { McpServer } from '@agentclientprotocol/sdk';
import { expect, it, onTestFinished } from 'vitest';
import { unusedServers } from '../../../cli/acp/mcp-servers.ts';

const notes: McpServer = {
  ...{ name: 'notes', command: 'npx', args: ['-y', 'notes'] },
  env: [{ name: 'KEY', value: 's3cret' }],
};
const far: McpServer = { type: 'http', name: 'far', url: 'https://far.test/mcp', headers: [] };

it.each<[string, object, string[]]>([
  ['none is listed', {}, ['notes', 'far']],
  [
    'both are listed as the editor has them',
    {
      notes: { command: 'npx', args: ['-y', 'notes'], env: { KEY: 's3cret' } },
      far: { url: 'https://far.test/mcp' },
    },
    [],
  ],
  [
    'one has another definition, and one is disabled',
    {
      notes: { command: 'npx', args: ['-y', 'notes', '--all'], env: { KEY: 's3cret' } },
      far: { url: 'https://far.test/mcp', disabled: true },
    },
    ['notes', 'far'],
  ],
  ['another name has the definition', { other: { url: 'https://far.test/mcp' } }, ['notes', 'far']],
])('where %s, says which are missing', async (_, mcpServers, missing) => {
  const stateDir = mkdtempSync(join(tmpdir(), 'drawbridge-acp-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  writeFileSync(join(stateDir, 'mcp.json'), JSON.stringify({ mcpServers }));
  const said = await unusedServers([notes, far], { bridgeId: 'bridge_1', stateDir });
  expect(['notes', 'far'].filter((name) => said?.includes(`mcp add ${name} `))).toEqual(missing);
  expect(said ?? '').not.toContain('s3cret');
});

it('says nothing to an editor without servers', async () => {
  expect(await unusedServers([], undefined)).toBeUndefined();
});
