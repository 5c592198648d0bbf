import { expect, it } from 'vitest';
import { processLine } from '../../../cli/render/process.ts';
import { callDrawbridge } from '../called.ts';

it.each(['0', '65536', '3e3', '-1', 'http'])('%s is no port that can be opened', async (port) => {
  const { code, stderr } = await callDrawbridge(['processes', 'open', '--', 'proc_1', port]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('A port is a number from 1 to 65535'),
  ]);
});

it('the line of a process has its open ports, whatever the server says in their place', () => {
  const ports = [{ port: 3000, address: 'http://127.0.0.1:4711\n\u001b[2J' }];
  const started = '2026-11-24T12:00:00Z';
  const about = { id: 'proc_1', conversationId: 'conv_1', folder: '.', started };
  const line = processLine({ ...about, running: true, command: 'serve', ports });
  expect(line).toMatch(/^proc_1 {2}started \S+ {2}runs {2}port 3000 at http:\/\/127\.0\.0\.1:4711/);
  expect([...line].filter((character) => character < ' ')).toEqual([]);
});
