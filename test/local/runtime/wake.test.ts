import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLogFile } from '../../../local/processes/log-file.ts';
import { wakeRuns } from '../../../local/runtime/wake.ts';
import { openServerState } from '../../../local/state/state.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test.each([
  ['a secret that signs nothing', { authSecret: 'no secret' }, 'The secret'],
  ['a Worker that refuses', {}, 'the Worker answered 403'],
])('what keeps runs from being woken is logged: %s', async (_, changed, why) => {
  const folder = temporaryFolder();
  const state = { ...(await openServerState(join(folder, 'state'))), ...changed };
  const path = join(folder, 'workerd.log');
  const log = openLogFile(path);
  const url = await serverThat(() => 403);
  await wakeRuns({ url, state, log }, new AbortController().signal);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
    level: 'warn',
    event: 'wake_failed',
    message: expect.stringContaining(why),
  });
});

test('a Worker that has only begun to listen, or that dies, is asked again', async () => {
  const folder = temporaryFolder();
  const state = await openServerState(join(folder, 'state'));
  const path = join(folder, 'workerd.log');
  const answers = ['end', 503, 500, 200] as const;
  let asked = 0;
  const url = await serverThat(() => answers[asked++] ?? 403);
  await wakeRuns({ url, state, log: openLogFile(path) }, new AbortController().signal);
  expect(asked).toBe(answers.length);
  expect(existsSync(path) && readFileSync(path, 'utf8')).toBeFalsy();
});

/** `end` ends the connection without an answer. */
async function serverThat(answer: () => number | 'end'): Promise<string> {
  const server = createServer((request, response) => {
    const status = answer();
    if (status === 'end') request.socket.destroy();
    else response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
