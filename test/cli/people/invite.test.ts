import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { renderUnicodeCompact } from 'uqr';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { DRAWBRIDGE } from '../bundle.ts';
import { callDrawbridge } from '../called.ts';
import { HAS_TERMINALS, openPseudoTerminal } from '../pseudo-terminal.ts';

const SECRET = `dbi_${'x'.repeat(43)}`;
const LINK = `https://agent.example.com/#join=${SECRET}`;

/** The words of an invitation by a server that always answers with the same one. */
async function newInvite(): Promise<string[]> {
  const expires = '2026-12-01T00:00:00Z';
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    const id = `inv_${'x'.repeat(16)}`;
    response.end(JSON.stringify({ id, secret: SECRET, link: LINK, account: 'ana', expires }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const tokenFile = join(temporaryFolder(), 'token');
  writeFileSync(tokenFile, 'token', { mode: 0o600 });
  const url = `http://127.0.0.1:${Object(server.address()).port}`;
  return ['invite', '--url', url, '--token-file', tokenFile, '--state', temporaryFolder()];
}

it('prints the link alone into a pipe', async () => {
  const [command = '', ...place] = await newInvite();
  const { code, stdout, stderr } = await callDrawbridge([command, ...place]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${LINK}\n` });
  expect(stderr).toContain(`invitations revoke inv_${'x'.repeat(16)} ${place.join(' ')}\n`);
  expect(stderr).not.toContain('█');
});

it.runIf(HAS_TERMINALS)('shows it at a terminal as a QR code, too', async () => {
  const words = [process.execPath, DRAWBRIDGE, ...(await newInvite())];
  const terminal = openPseudoTerminal(words);
  expect((await terminal.finished).code).toBe(0);
  expect(terminal.screen()).toContain(LINK);
  expect(terminal.screen()).toContain(renderUnicodeCompact(LINK, { border: 2 }));
});
