import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openLogFile } from '../../../local/processes/log-file.ts';
import { newSweep, sweepHourly } from '../../../local/runtime/left-behind.ts';
import { openServerState } from '../../../local/state/state.ts';
import { LEFT_LIMITS } from '../../../shared/limits.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const NEVER = new AbortController().signal;

test('files are asked about once an account was deleted, in pages, and again only when something changed', async () => {
  const { server, asked, files, report } = await place();
  const conversations = files('Conversation', LEFT_LIMITS.maxObjects + 1);
  const [bridge = ''] = files('Tunnel', 1);
  files('Account', 1);
  writeFileSync(join(server.state.storageDir, 'drawbridge-Conversation', 'metadata.sqlite'), '');
  const sweep = newSweep(server, NEVER);
  await sweep();
  expect(asked.splice(0)).toEqual([{}]);

  report.deletions = 1;
  await sweep();
  const all = asked.splice(0);
  expect(all.map((query) => Object.keys(query))).toEqual([
    [],
    ['conversations'],
    ['conversations'],
    ['bridges'],
  ]);
  const pages = all.flatMap(({ conversations: page }) => (page ? [page] : []));
  expect(pages.map((page) => page.length)).toEqual([LEFT_LIMITS.maxObjects, 1]);
  expect(pages.flat().toSorted()).toEqual(conversations.map(nameOf).toSorted());
  await sweep();
  expect(asked.splice(0)).toEqual([{}]);

  const [changed = '', ...rest] = conversations;
  writeFileSync(`${changed}-wal`, 'more');
  utimesSync(`${changed}-wal`, 2e9, 2e9);
  await sweep();
  expect(asked.splice(0)).toEqual([{}, { conversations: [nameOf(changed)] }]);

  for (const path of rest) rmSync(path);
  report.deletions = 2;
  await sweep();
  expect(asked.splice(0)).toEqual([
    {},
    { conversations: [nameOf(changed)] },
    { bridges: [nameOf(bridge)] },
  ]);
});

test('what the Worker refuses is logged, and no file is asked about', async () => {
  const { server, asked, files, report, log } = await place();
  files('Conversation', 1);
  Object.assign(report, { deletions: 'none' });
  const ending = new AbortController();
  const sweeping = sweepHourly(server, ending.signal);
  await expect.poll(() => asked.length).toBe(1);
  await expect.poll(() => JSON.parse(readFileSync(log, 'utf8')).event).toBe('sweep_failed');
  ending.abort();
  await sweeping;
  expect(asked).toEqual([{}]);
});

function nameOf(path: string): string {
  return path.slice(-64 - '.sqlite'.length, -'.sqlite'.length);
}

/** A state with files of objects, and a server that writes down what it is asked. */
async function place() {
  const folder = temporaryFolder();
  const state = await openServerState(join(folder, 'state'));
  const asked: Readonly<Record<string, readonly string[]>>[] = [];
  const report = { deletions: 0, left: 0 };
  const http = createServer(async (request, response) => {
    asked.push(JSON.parse(await text(request)));
    response.end(JSON.stringify(report));
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void http.close());
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const log = join(folder, 'workerd.log');
  const files = (className: string, count: number) => {
    const objects = join(state.storageDir, `drawbridge-${className}`);
    mkdirSync(objects, { recursive: true });
    return Array.from({ length: count }, (_, index) => {
      const path = join(objects, `${index.toString(16).padStart(64, '0')}.sqlite`);
      writeFileSync(path, '');
      return path;
    });
  };
  return { server: { url, state, log: openLogFile(log) }, asked, files, report, log };
}
