import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { expect, test } from 'vitest';
import { startHouse, workerdOf } from './house.ts';

test.runIf(process.platform === 'linux')('a gzip bomb takes no memory', async () => {
  await using house = await startHouse({ args: ['--no-bridge'] });
  const bomb = await promisify(gzip)(Buffer.alloc(900 * 1024 * 1024));
  const body = Buffer.concat([Buffer.from([1, 0, 0, 0, 0]), bomb]);
  body.writeUInt32BE(bomb.length, 1);
  const status = () => readFileSync(`/proc/${workerdOf(house)}/status`, 'utf8');
  const peakMb = () => Number(/VmHWM:\s+(\d+)/.exec(status())?.[1]) / 1024;
  await house.client.chat({ messages: [{ role: 'user', content: 'warm' }] });
  const before = peakMb();
  for (let round = 0; round < 4; round++) {
    const response = await house.fetch('/aiserver.v1.AiService/StreamChat', {
      method: 'POST',
      headers: { 'content-type': 'application/connect+json', 'connect-content-encoding': 'gzip' },
      body,
    });
    expect(await response.text()).toContain('resource_exhausted');
  }
  // Unpacked whole, one of them takes more than 600. What is garbage stays a while on a busy machine.
  expect(peakMb() - before).toBeLessThan(250);
});
