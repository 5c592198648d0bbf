import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { unconfined } from '../../../bridge/sandbox/confinement.ts';
import { guardedWorkspace } from '../quarantine/guarded-workspace.ts';
import { NO_BUBBLEWRAP } from '../sandbox/sandboxed-workspace.ts';
import { FIXTURE, startServers } from './offering.ts';

/** A server without packages, which the sandbox would not show. Its one tool tries what it is told to try. */
const SCRIPT = `
const { writeFileSync, readFileSync, mkdirSync } = require('node:fs');
const attempts = {
  write: () => writeFileSync('made.txt', 'made'),
  secret: () => readFileSync(process.env.HOME + '/.ssh/id_ed25519', 'utf8'),
  editor: () => writeFileSync('.vscode/settings.json', '{"a":1}'),
  outside: () => writeFileSync('../outside/file', 'touched'),
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
  try { await attempts[params.arguments.what](); send(id, text('done')); }
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
});

it('without a sandbox it does not start, and says why', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const none = { workspace: '/', home: '/', closedFolders: [], environment: {} };
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
  log.mockRestore();
});
