/** A person opens a port of a command to the browser, by the program itself; curl stands for the browser. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { NO_BUBBLEWRAP } from '../../packages/sandbox/test/sandboxed-workspace.ts';
import { runDrawbridge } from '../cli/drawbridge.ts';
import { oneHouse } from './one-house.ts';

const at = oneHouse();

describe.skipIf(NO_BUBBLEWRAP)(`an open port ${NO_BUBBLEWRAP ?? ''}`, () => {
  it('leads from the machine to a page of a command, until the command ends', async () => {
    const id = await startServer();
    expect(await page('http://127.0.0.1:3000/')).not.toContain('a page');
    const { code, stdout } = await drawbridge('open', id, '3000');
    const address = stdout.trim();
    expect([code, address]).toEqual([0, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)]);
    expect(await page(`${address}/some/path`)).toBe('a page at /some/path');
    expect((await drawbridge('list')).stdout).toContain(`\tport 3000 at ${address}\t`);
    expect((await drawbridge('stop', id)).code).toBe(0);
    expect(await page(address)).toBe(CLOSED);
  });

  it('leads nowhere once the person has closed it, and again after another yes', async () => {
    const id = await startServer();
    const first = (await drawbridge('open', id, '3000')).stdout.trim();
    expect(await page(first)).toBe('a page at /');
    expect((await drawbridge('close', id, '3000')).code).toBe(0);
    expect((await drawbridge('list')).stdout).not.toContain('port 3000');
    expect(await page(first)).toBe(CLOSED);
    const again = (await drawbridge('open', id, '3000')).stdout.trim();
    expect(await page(again)).toBe('a page at /');
    await drawbridge('stop', id);
  });
});

/** The agent starts a server in the background and waits for it. The id of its process. */
async function startServer(): Promise<string> {
  const script = 'require("http").createServer((q, s) => s.end("a page at " + q.url)).listen(3000)';
  const command = `node -e '${script}'`;
  const look = 'curl -s --retry 9 --retry-connrefused http://localhost:3000/';
  at.answerWith([
    { calls: [{ name: 'run_terminal_cmd', arguments: { command, is_background: true } }] },
    { calls: [{ name: 'run_terminal_cmd', arguments: { command: look } }] },
    { text: 'It runs.' },
  ]);
  const messages = [{ role: 'user' as const, content: 'Serve the page' }];
  const { documents } = await at.house.client.chat({ messages });
  const ran = documents.find(({ type }) => type === 'terminal_command');
  return String(ran?.metadata['process_id']);
}

/** As the person types it, in a process of its own. */
async function drawbridge(command: string, ...args: readonly string[]) {
  const { workspace, state } = at.house;
  const here = ['--workspace', workspace, '--state', state];
  return await runDrawbridge(['processes', command, ...args, ...here]);
}

/** What curl reads outside of the sandbox. */
async function page(address: string): Promise<string> {
  const read = promisify(execFile)('curl', ['-s', '-m', '5', address]);
  return await read.then(
    ({ stdout }) => stdout,
    () => CLOSED,
  );
}

const CLOSED = 'closed';
