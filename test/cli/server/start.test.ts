import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { localTime } from '../../../cli/render/table.ts';
import { OWN_VERSION } from '../../../local/own-root.ts';
import { isAlive } from '../../local/processes.ts';
import { temporaryFolder } from '../../local/temporary-folder.ts';
import { newBackground } from './background.ts';

const START = ['start', '--port', '0'];
const states = (status: { projects: { workspaceDir: string; bridge: { state: string } }[] }) =>
  Object.fromEntries(
    status.projects.map(({ workspaceDir, bridge }) => [workspaceDir, bridge.state]),
  );

test('two folders share one server, which outlives its terminals and is ended by stop', async () => {
  const { run, status, processes } = newBackground();
  const [a, b] = [temporaryFolder(), temporaryFolder()];
  for (const folder of [a, b]) {
    expect(await run(folder, START)).toMatchObject({ code: 0, stdout: '' });
  }
  const shown = await status();
  expect(states(shown)).toEqual({ [a]: 'connected', [b]: 'connected' });
  // The server, workerd and its lifeline; the bridges of both folders share one process.
  expect(processes()).toHaveLength(2);
  expect((await fetch(`${shown.url}/health`)).status).toBe(200);
  const { code, stdout } = await run(a, ['status']);
  expect(code).toBe(0);
  expect(stdout).toContain(
    `${OWN_VERSION} runs at ${shown.url} (process ${shown.pid}, since ${localTime(shown.started)}).\n`,
  );
  expect(stdout).toContain(`${a}: commands run`);
  expect(stdout).not.toContain('.;');
  expect(stdout).toContain(`Metrics ${shown.url}/metrics; `);
  expect(await run(b, ['stop'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'Stopped the server.\n',
  });
  // The process itself ends a moment after it has given the state back.
  await expect.poll(processes).toEqual([]);
  expect(isAlive(shown.pid)).toBe(false);
  expect(await run(b, ['stop'])).toMatchObject({ code: 0, stderr: 'No server runs.\n' });
  expect(await run(b, ['status'])).toMatchObject({ code: 1 });
});

test('of two starts at once one wins, and the other joins', async () => {
  const { run, status, processes } = newBackground();
  const folders = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
  const starts = await Promise.all(folders.map((folder) => run(folder, START)));
  expect(starts.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(Object.values(states(await status()))).toEqual(['connected', 'connected', 'connected']);
  // A server that lost ends in its own time.
  await expect.poll(processes).toHaveLength(2);
});

test.each([
  [
    'a port that another program has',
    async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      return [`--port=${(other.address() as AddressInfo).port}`];
    },
    /^drawbridge: Port \d+ is in use by another program: choose another with --port[^\n]+\n$/,
  ],
  [
    'no terminal to chat at',
    async () => [],
    /^drawbridge: There is no prompt[^\n]+-p[^\n]+start[^\n]+\n$/,
  ],
] as const)('%s is one sentence and exit code 2', async (name, args, words) => {
  const { run, processes } = newBackground();
  const command = name.startsWith('no terminal') ? [] : ['start'];
  const finished = await run(temporaryFolder(), [...command, ...(await args())]);
  expect(finished).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(words) });
  await expect.poll(() => processes()).toEqual([]);
});
