import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { tellOfUpdate } from '../../../cli/update/update-hint.ts';
import { DAY } from '../../../shared/units.ts';
import { newConfig } from '../../local/config/config-folder.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';

const TODAY = Date.parse('2026-11-22T12:00:00Z');

type Answer = (response: ServerResponse) => void;

/** A registry that answers with this text, and a person who uses version 1.9.3. */
async function start(answer: string | Answer | null, config: unknown = {}) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    if (typeof answer === 'function') answer(response);
    else if (answer !== null) response.end(answer);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/npm/`;
  const env = { ...newConfig(config).env, XDG_CACHE_HOME: temporaryFolder() };
  const run = async (day: number, more: NodeJS.ProcessEnv = {}, isTerminal = true) => {
    let screen = '';
    const hint = {
      ownVersion: '1.9.3',
      isTerminal,
      now: new Date(TODAY + day * DAY),
      env: { ...env, npm_config_registry: registry, ...more },
      write: (text: string) => {
        screen += text;
      },
    };
    await tellOfUpdate(hint, new AbortController().signal);
    return screen;
  };
  const file = join(env.XDG_CACHE_HOME, 'drawbridge', 'update.json');
  const kept = () => JSON.parse(readFileSync(file, 'utf8'));
  return { run, requests, kept, folder: dirname(file) };
}

test('the registry is asked once a day, and the next command shows that there is a newer version', async () => {
  const { run, requests, kept } = await start('{"latest": "1.10.0", "next": "2.0.0"}');
  expect(await run(0)).toBe('');
  await expect.poll(kept).toEqual({ askedMs: TODAY, latest: '1.10.0' });
  expect(await run(0.9)).toMatch(
    /^drawbridge 1\.10\.0 is out, this is 1\.9\.3: npm i -g drawbridge-agent [^\n]+\n$/,
  );
  expect(requests).toHaveLength(1);
  await run(1);
  await expect.poll(() => requests).toHaveLength(2);
});

test('an answer that can no longer be kept fails nothing', async () => {
  const answered = Promise.withResolvers<void>();
  const { run, folder } = await start((response) => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    response.on('close', answered.resolve).end('{"latest": "1.10.0"}');
  });
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  process.on('unhandledRejection', onFailure);
  onTestFinished(() => void process.off('unhandledRejection', onFailure));
  await run(0);
  await answered.promise;
  await sleep(100);
  expect(failures).toEqual([]);
});

test('the registry learns nothing but the name of the package', async () => {
  const { run, requests } = await start('{"latest": "1.9.3"}');
  await run(0);
  await expect.poll(() => requests).toHaveLength(1);
  const { url, headers } = requests[0] ?? {};
  expect(url).toBe('/npm/-/package/drawbridge-agent/dist-tags');
  const names = Object.keys(headers ?? {});
  expect(names.filter((name) => /auth|cookie|referer|session|^npm|^x-/.test(name))).toEqual([]);
  expect(headers?.['user-agent']).toBe('node');
});

test.each(['1.9.3', '1.9.2', '0.99.99'])('%s is not newer', async (latest) => {
  const { run, kept } = await start(JSON.stringify({ latest }));
  await run(0);
  await expect.poll(kept).toMatchObject({ latest });
  expect(await run(0.1)).toBe('');
});

test.each(['<html>', '{}', '{"latest": "2.0.0; rm -rf /"}', '{"latest": 2}'])(
  '%s is no answer',
  async (answer) => {
    const { run, requests } = await start(answer);
    await run(0);
    await expect.poll(() => requests).toHaveLength(1);
    expect(await run(0.1)).toBe('');
  },
);

test('an answer that is far too long is read no further, and shows nothing', async () => {
  let outcome = '';
  const { run, kept } = await start((response) => {
    const pieces = Array.from({ length: 512 }, () => 'x'.repeat(64 * 1024));
    pipeline(Readable.from(['{"latest": "9.0.0", "more": "', ...pieces, '"}']), response).then(
      () => (outcome = 'read'),
      () => (outcome = 'cut'),
    );
  });
  await run(0);
  await expect.poll(() => outcome).toBe('cut');
  expect(kept()).toEqual({ askedMs: TODAY });
});

test('a registry that never answers delays nothing, and is not asked again the same day', async () => {
  const { run, requests } = await start(null);
  await run(0);
  await expect.poll(() => requests).toHaveLength(1);
  expect(await run(0.5)).toBe('');
  expect(requests).toHaveLength(1);
});

test.each<[string, NodeJS.ProcessEnv, boolean, unknown]>([
  ['in CI', { CI: 'true' }, true, {}],
  ['without a terminal', {}, false, {}],
  ['by config.json', {}, true, { updateHint: false }],
  ['by a variable', { DRAWBRIDGE_UPDATE_HINT: '0' }, true, {}],
  ['with a broken config.json', {}, true, '{'],
  ['with a cache that cannot be written', { XDG_CACHE_HOME: '/dev/null' }, true, {}],
])('nothing is asked %s', async (_, variables, isTerminal, config) => {
  const { run, requests } = await start('{"latest": "9.0.0"}', config);
  expect(await run(0, variables, isTerminal)).toBe('');
  expect(await run(2, variables, isTerminal)).toBe('');
  expect(requests).toEqual([]);
});
