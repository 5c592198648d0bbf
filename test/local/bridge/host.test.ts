import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BridgeHost } from '../../../local/bridge/host.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Dies at its first start. At the second it takes orders, and ends no bridge by itself. */
const PROGRAM = `
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

test('a bridge that is ended before the next process starts does not run in it', async () => {
  const program = join(temporaryFolder(), 'host.mjs');
  writeFileSync(program, PROGRAM);
  const run = Promise.withResolvers<void>();
  const host = new BridgeHost({
    command: [process.execPath, program],
    environment: {},
    sharesTerminal: false,
    onOutput: () => {},
    onRestart: () => {
      const ending = new AbortController();
      run.resolve(host.run(BRIDGE, () => {}, ending.signal));
      ending.abort();
    },
  });
  onTestFinished(() => host.end());
  host.prepare();
  await expect(run.promise).resolves.toBeUndefined();
});

const BRIDGE = {
  ...{
    url: 'http://127.0.0.1:1',
    token: '',
    machineId: 'device_a',
    machineDir: '/nowhere',
    bridgeId: 'bridge',
    environment: {},
  },
  ...{ asksAtTerminal: false, workspaceDir: '/', stateDir: '/', logFile: '/' },
};
