import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { IndexThread } from '../../../bridge/index/thread.ts';
import { temporaryWorkspace } from '../tools/temporary-workspace.ts';
import { indexed } from './indexed.ts';

const QUESTION = { question: 'where is the tunnel?', places: ['.'], limit: 5 };

it('the thread ends after the first index, and the next question starts another', async () => {
  const terminate = vi.spyOn(Worker.prototype, 'terminate');
  const { find } = await indexed({ 'tunnel.ts': 'export function openTunnel() {}\n' });
  await expect.poll(() => terminate.mock.calls.length).toBe(1);
  expect(await find('where is the tunnel?')).toEqual(['tunnel.ts']);
});

it('a thread that is asked meanwhile does not end', async () => {
  const { root } = await temporaryWorkspace({ 'tunnel.ts': 'export function openTunnel() {}\n' });
  const thread = new IndexThread({ path: join(dirname(root), 'index.sqlite'), root });
  onTestFinished(() => thread.end());
  await thread.ask('update', { names: 'tunnel.ts' });
  const terminate = vi.spyOn(Worker.prototype, 'terminate');
  const asked = [thread.ask('rank', QUESTION), thread.ask('rank', QUESTION)];
  thread.endIfIdle();
  for (const { hits } of await Promise.all(asked)) expect(hits).toHaveLength(1);
  thread.endIfIdle();
  expect((await thread.ask('rank', QUESTION)).hits).toHaveLength(1);
  expect(terminate).not.toHaveBeenCalled();
});
