/** What a bridge starts outside the sandbox: MCP servers of the owner's list, in all the ways that find code by a folder. */
import { chmod, chown } from 'node:fs/promises';
import { join } from 'node:path';
import { stdioTransport } from '../../packages/mcp/transport/transports.ts';

/** `folder` is the workspace. Resolves when all of them have stopped, which none of them does as a server. */
export async function startListedServers(folder: string): Promise<void> {
  // Root runs no server at all in the workspace of another user.
  if (process.getuid?.() === 0) {
    await chown(folder, 0, 0);
    await chmod(folder, 0o777);
  }
  await Promise.all(LISTED(folder).map(async (config) => await startOnce(config, folder)));
}

interface Listed {
  readonly command: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

const LISTED = (folder: string): readonly Listed[] => [
  { command: 'python3', args: ['-m', 'tickets'] },
  { command: 'python3', args: ['-c', 'import json'] },
  { command: 'npx', args: ['--no', 'tickets'] },
  { command: 'node', args: ['-e', 'require("tickets")'] },
  { command: 'tickets', args: [] },
  { command: 'python3', args: ['-c', 'import json'], env: { PYTHONPATH: folder } },
  { command: 'node', args: ['-e', ''], env: { NODE_OPTIONS: `--require=${folder}/tickets.cjs` } },
  { command: 'node', args: [`${folder}/link/../tickets.cjs`] },
  { command: 'tickets', args: [], env: { PATH: `${folder}/node_modules/.bin:/usr/bin` } },
  { command: 'python3', args: ['-c', 'import json'], cwd: folder },
  { command: 'node', args: ['--import', `file://localhost${folder}/tickets.cjs`] },
  { command: 'python3', args: ['-c', `import sys; sys.path[0:0] = ['${folder}']; import json`] },
  { command: 'sh', args: ['-c', `cd "${folder}" && python3 -c 'import json'`] },
  { command: 'sh', args: ['-c', `exec "$(dirname '${folder}/x')"/node_modules/.bin/tickets`] },
  { command: `${folder}/link/../node_modules/.bin/tickets`, args: [] },
];

async function startOnce(listed: Listed, workspace: string): Promise<void> {
  const config = { disabled: false, env: {}, ...listed };
  const PATH = `${workspace}/node_modules/.bin:.:${process.env['PATH']}`;
  const transport = stdioTransport(config, {
    folder: join(workspace, '../../instances/own'),
    workspace,
    environment: { ...process.env, PATH },
    onStderr: () => {},
  });
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  // A server that leads into the workspace is refused here.
  await transport.start().then(
    () => closed,
    () => {},
  );
}
