/** Language servers that lie, flood, hang or end: an edit is never held long, and says why it was not checked. */
import { expect, it } from 'vitest';
import { MOST_STANDSTILL_MS, shortestStandstill } from '../../../test/bridge/compute/heartbeat.ts';
import { DIAGNOSTICS_LIMITS } from '../limits.ts';
import { checkedWorkspace } from './scripted-server.ts';

const write = (contents: string) => ({ file_path: 'a.ts', contents });

it.each(['pull', 'push', 'vague', 'late', 'asks', 'moody'])(
  'a server that is "%s" checks the edits',
  async (mode) => {
    const { call } = await checkedWorkspace(mode);
    const made = await call('write', write('fine\n'));
    expect(made).toMatchObject({ status: 'success', metadata: { checked_by: 'scripted 1' } });
    for (const text of ['BAD 1\n', 'BAD 2\n']) {
      expect(await call('write', write(text))).toMatchObject({ code: 'NEW_ERRORS' });
    }
    expect(await call('write', write('fine again\n'))).toMatchObject({ status: 'success' });
  },
);

it.each([
  ['gone', 'it is not installed'],
  ['crash', 'it ended with exit code 3: out of luck'],
  ['garbage', 'it prints something else than messages'],
  ['long', `it sends a message of more than ${DIAGNOSTICS_LIMITS.maxMessageBytes} bytes`],
  ['wrong', 'its answer cannot be read'],
  ['refusing', 'it refused to answer'],
  ['mute', `it gave no answer within ${DIAGNOSTICS_LIMITS.maxHoldMs} ms`],
  ['hung', `it gave no answer within ${DIAGNOSTICS_LIMITS.maxHoldMs} ms`],
  ['silent', `it gave no answer within ${DIAGNOSTICS_LIMITS.maxHoldMs} ms`],
])('an edit is made without a server that is "%s"', async (mode, reason) => {
  const { call, text } = await checkedWorkspace(mode);
  expect(await call('write', write('BAD\n'))).toMatchObject({
    status: 'success',
    metadata: { not_checked: `typescript: ${reason}` },
  });
  expect(await text('a.ts')).toBe('BAD\n');
});

it('a server that is late too often is ended, and not asked for a while', async () => {
  const { call, started } = await checkedWorkspace('hung');
  for (let count = 0; count < DIAGNOSTICS_LIMITS.maxTimeouts; count++) {
    await call('write', write(`${count}\n`));
  }
  await expect.poll(() => started[0]?.child.signalCode).toBe('SIGTERM');
  expect(await call('write', write('more\n'))).toMatchObject({ status: 'success' });
  expect(started).toHaveLength(1);
});

it('a cancelled call ends its check, and the next one is checked', async () => {
  const { call } = await checkedWorkspace('hung');
  const cancelled = new AbortController();
  const result = call('write', write('one\n'), { signal: cancelled.signal });
  setTimeout(() => cancelled.abort(new Error('cancelled')), 300);
  await expect(result).rejects.toThrow('cancelled');
});

it('the end of the servers leaves no process', async () => {
  const { call, servers, started } = await checkedWorkspace('mute');
  const result = call('write', write('one\n'));
  await expect.poll(() => started.length).toBe(1);
  await servers.end();
  expect(await result).toMatchObject({ status: 'success' });
  await expect.poll(() => started[0]?.child.signalCode).toBe('SIGTERM');
});

it('a server that has ended while nothing was checked is started again', async () => {
  const { call, started } = await checkedWorkspace('pull');
  await call('write', write('one\n'));
  started[0]?.child.kill('SIGKILL');
  await expect.poll(() => started[0]?.child.signalCode).toBe('SIGKILL');
  await expect
    .poll(async () => (await call('write', write(`${started.length}${Math.random()}\n`))).metadata)
    .toMatchObject({ checked_by: 'scripted 1' });
  expect(started).toHaveLength(2);
});

it('after the end of the servers none is started', async () => {
  const { call, servers, started } = await checkedWorkspace('pull');
  await servers.end();
  expect(await call('write', write('one\n'))).toMatchObject({
    metadata: { not_checked: 'typescript: the bridge ends' },
  });
  expect(started).toHaveLength(0);
});

it('a server that prints without end holds neither an edit nor the event loop', async () => {
  const { call } = await checkedWorkspace('flood');
  const { result, standstillMs } = await shortestStandstill(
    async () => async () => await call('write', write('one\n')),
  );
  expect(result).toMatchObject({ status: 'success' });
  expect(standstillMs).toBeLessThan(MOST_STANDSTILL_MS);
});
