import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BridgeHost } from '../../../local/bridge/host.ts';
import type { HostNews } from '../../../local/bridge/messages.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Dies at its first start. At the second it takes orders, and ends no bridge by itself. */
const DYING = `
import { existsSync, writeFileSync } from 'node:fs';
const mark = process.argv[1] + '.started';
if (!existsSync(mark)) {
  writeFileSync(mark, '');
  process.exit(1);
}
process.on('message', ({ order, key }) => {
  if (order === 'end') process.send({ key, news: { event: 'ended' } });
});
`;

/** Takes orders, and ends no bridge. */
const STUCK = `
process.on('message', ({ order, key }) => {
  const news = { event: 'disconnected', reason: order };
  process.send({ key, news });
});
`;

test('a bridge that is ended before the next process starts does not run in it', async () => {
  const run = Promise.withResolvers<void>();
  const host = newHost(DYING, () => {
    const ending = new AbortController();
    run.resolve(host.run(BRIDGE, () => {}, ending.signal));
    ending.abort();
  });
  host.prepare();
  await expect(run.promise).resolves.toBeUndefined();
});

test('a bridge that does not end costs the process, and no other bridge waits for it', async () => {
  const deaths: string[] = [];
  const host = newHost(STUCK, (death) => deaths.push(death));
  const ending = new AbortController();
  const orders: string[] = [];
  const end = (news: HostNews['news']) => {
    if (news.event === 'disconnected') orders.push(news.reason);
    ending.abort();
  };
  await host.run(BRIDGE, end, ending.signal);
  expect(orders).toEqual(['run', 'end']);
  await expect.poll(() => deaths).toEqual(['SIGKILL']);
});

function newHost(program: string, onRestart: (death: string) => void): BridgeHost {
  const file = join(temporaryFolder(), 'host.mjs');
  writeFileSync(file, program);
  const host = new BridgeHost({
    command: [process.execPath, file],
    environment: {},
    sharesTerminal: false,
    onOutput: () => {},
    onRestart,
  });
  onTestFinished(() => host.end());
  return host;
}

const BRIDGE = {
  url: 'http://127.0.0.1:1',
  token: '',
  machineId: 'device_a',
  machineDir: '/nowhere',
  bridgeId: 'bridge',
  environment: {},
  asksAtTerminal: false,
  workspaceDir: '/',
  stateDir: '/',
  logFile: '/',
};
