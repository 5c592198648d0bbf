import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLogFile } from '../../../local/processes/log-file.ts';
import { readAlarms, wakeConversations } from '../../../local/runtime/wake.ts';
import { uniqueKeyOf } from '../../../local/runtime/workerd-config.ts';
import { openServerState } from '../../../local/state/state.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('what keeps runs from being woken at once is logged in lines of JSON', async () => {
  const folder = temporaryFolder();
  const state = await openServerState(join(folder, 'state'));
  const objects = join(state.storageDir, uniqueKeyOf('Conversation'));
  mkdirSync(join(objects, 'metadata.sqlite'), { recursive: true }); // A folder in place of the file.
  const path = join(folder, 'workerd.log');
  const log = openLogFile(path);
  expect(readAlarms({ state, log })).toEqual([]);
  const alarms = ['conv_00000000-0000-4000-8000-000000000000'];
  const unreadable = { ...state, authSecret: 'no secret' };
  const started = { url: await healthyServer(), state: unreadable, log, alarms };
  await wakeConversations(started, new AbortController().signal);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', event: 'alarms_unread', message: expect.stringContaining('were not read') },
    { level: 'warn', event: 'wake_failed', message: expect.stringContaining('were not woken') },
  ]);
});

/** Answers that it runs, and nothing else. */
async function healthyServer(): Promise<string> {
  const server = createServer((_, response) => response.end('{"status":"ok"}'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
