import { expect, it } from 'vitest';
import type { UsageEntry } from '../../../shared/api/usage.ts';
import { startScriptedApi } from '../../client/scripted-api.ts';
import { callDrawbridge } from '../called.ts';

const ENTRY: UsageEntry = {
  day: '2026-11-20',
  model: 'large',
  responses: 2,
  promptTokens: 1_000,
  cachedPromptTokens: 900,
  cacheWriteTokens: 0,
  completionTokens: 50,
  reasoningTokens: 7,
  totalTokens: 1_057,
  unreportedRequests: 0,
  costs: [
    { amount: 0.0042, currency: 'USD' },
    { amount: 3, currency: 'EUR' },
  ],
};

it('is a line for each day and model in a pipe, from all pages', async () => {
  await using api = await startScriptedApi([]);
  const other = { ...ENTRY, model: 'sm\u001ball', costs: [] };
  api.answers.set('GET me/usage?from=2026-11-01', page([ENTRY], 'next'));
  api.answers.set('GET me/usage?from=2026-11-01&cursor=next', page([other], null));
  expect(await run(api.url, '--from', '2026-11-01')).toEqual({
    code: 0,
    stdout:
      '2026-11-20\tlarge\t2\t1000\t900\t57\t0.0042 USD, 3 EUR\n2026-11-20\tsm␛all\t2\t1000\t900\t57\t\n',
    stderr: '',
  });
});

it('is JSON where that is asked for', async () => {
  await using api = await startScriptedApi([]);
  api.answers.set('GET me/usage', page([ENTRY], null));
  const { stdout } = await run(api.url, '--json');
  expect(JSON.parse(stdout)).toEqual(ENTRY);
});

it.each(['yesterday', '2026-02-31', '2026-13-01', '2025-02-29', '2026-1-1'])(
  'refuses %s, which is no day',
  async (day) => {
    await using api = await startScriptedApi([]);
    for (const option of ['--from', '--to']) {
      expect(await run(api.url, option, day)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('It must be a day such as 2026-11-01.'),
      });
    }
  },
);

function page(items: readonly UsageEntry[], nextCursor: string | null) {
  return { from: '2026-11-01', to: '2026-11-30', items, nextCursor };
}

function run(url: string, ...args: string[]) {
  return callDrawbridge(['usage', '--url', url, '--token', 'token', ...args]);
}
