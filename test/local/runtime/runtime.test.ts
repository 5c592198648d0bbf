import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openLogFile } from '../../../local/processes/log-file.ts';
import { waitUntilHealthy } from '../../../local/runtime/address.ts';
import { bundleWorker, placeWorker } from '../../../local/runtime/bundle.ts';
import { runWorker } from '../../../local/runtime/runtime.ts';
import { readWranglerConfig } from '../../../local/runtime/wrangler-config.ts';
import { MINUTE } from '../../../shared/units.ts';
import { portOf } from '../../far-ends/listening.ts';
import { processesWith } from '../processes.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const WORKER = join(import.meta.dirname, 'worker.js');
const WRANGLER = join(import.meta.dirname, '..', '..', '..', 'wrangler.toml');

test('a Worker that is killed comes back on its port with its storage', async () => {
  const worker = await startWorker();
  expect(await worker.json('/count')).toBe(1);
  process.kill(worker.pid(), 'SIGKILL');
  await expect.poll(() => worker.restarts).toEqual(['SIGKILL']);
  await waitUntilHealthy(worker.url, AbortSignal.timeout(MINUTE));
  expect(await worker.json('/count')).toBe(2);
});

test('an end does not wait for open streams', async () => {
  const worker = await startWorker();
  const stream = await fetch(`${worker.url}/stream`);
  const cut = stream.text().catch(() => 'cut');
  await worker.end();
  expect(await cut).toBe('cut');
  expect(processesWith(worker.folder)).toEqual([]);
});

test('variables reach the Worker, and no file or command line shows them', async () => {
  const worker = await startWorker({ AUTH_SECRET: 'top-secret' });
  expect(await worker.json('/variables')).toEqual({ AUTH_SECRET: 'top-secret' });
  expect(processesWith('top-secret')).toEqual([]);
  expect(readFileSync(join(worker.folder, 'workerd.capnp'), 'utf8')).not.toContain('top-secret');
});

test('the Worker reaches a model on this machine', async () => {
  const port = await portOf(createServer((_, response) => response.end('"hello"')));
  const worker = await startWorker();
  expect(await worker.json(`/fetch?url=http://localhost:${port}/`)).toBe('hello');
});

test('the network for addresses that clients choose does not reach this machine, by address or by name', async () => {
  const requests: unknown[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    response.end('"hello"');
  });
  const port = await portOf(server);
  const worker = await startWorker();
  for (const host of ['127.0.0.1', 'localhost']) {
    expect(await worker.json(`/public?url=http://${host}:${port}/`)).toBe('refused');
  }
  expect(requests).toEqual([]);
});

test.runIf(existsSync('/usr/bin/ss'))(
  'nothing listens but the one socket on the loopback',
  async () => {
    const worker = await startWorker();
    const listening = execFileSync('ss', ['-ltnupxH'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`pid=${worker.pid()},`));
    expect(listening).toEqual([expect.stringContaining(` ${new URL(worker.url).host} `)]);
  },
);

test('the runtime says who is at the other end of a connection, whatever the client writes', async () => {
  const worker = await startWorker();
  const headers = { cf: '{"clientIp":"9.9.9.9:9"}', 'cf-connecting-ip': '9.9.9.9' };
  const answer = await fetch(`${worker.url}/who`, { headers });
  expect(await answer.json()).toEqual({ clientIp: expect.stringMatching(/^127\.0\.0\.1:\d+$/) });
});

test('a CONNECT opens nothing, and leaves no exception in the log', async () => {
  const worker = await startWorker();
  const socket = connect(Number(new URL(worker.url).port), '127.0.0.1');
  socket.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 500 .*Connection: close/s);
  await worker.end();
  const log = readFileSync(join(worker.folder, 'workerd.log'), { encoding: 'utf8', flag: 'a+' });
  expect(log).not.toMatch(/connect|exception/i);
});

test('what is not built is said in one line', async () => {
  const entry = join(temporaryFolder(), 'missing.ts');
  const built = bundleWorker(entry, join(temporaryFolder(), 'worker.js'));
  await expect(built).rejects.toThrow(/^The Worker could not be built: .*missing\.ts.*$/);
});

/** A running Worker. Its process and its folders are gone after the test. */
async function startWorker(variables: Record<string, string> = {}) {
  const folder = temporaryFolder();
  const storageDir = join(folder, 'storage');
  mkdirSync(storageDir);
  await placeWorker(WORKER, join(folder, 'worker.js'));
  const listening = Promise.withResolvers<number>();
  const restarts: string[] = [];
  const ending = new AbortController();
  const running = runWorker(
    {
      wrangler: await readWranglerConfig(WRANGLER),
      buildDir: folder,
      moduleFile: 'worker.js',
      storageDir,
      pageDir: folder,
      port: 0,
      variables,
      log: openLogFile(join(folder, 'workerd.log')),
      onListening: listening.resolve,
      onRestart: (death) => restarts.push(death),
    },
    ending.signal,
  );
  const end = async () => {
    ending.abort();
    await running;
  };
  onTestFinished(end);
  const url = `http://127.0.0.1:${await listening.promise}`;
  await waitUntilHealthy(url, AbortSignal.timeout(MINUTE));
  return {
    url,
    folder,
    restarts,
    end,
    pid: () => processesWith(folder)[0]?.pid ?? 0,
    json: async (path: string): Promise<unknown> => (await fetch(`${url}${path}`)).json(),
  };
}
