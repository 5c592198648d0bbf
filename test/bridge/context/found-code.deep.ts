import { expect, it, vi } from 'vitest';
import { findCode } from '../../../packages/code-index/found-code.ts';
import { indexed } from '../../../packages/code-index/test/indexed.ts';
import { FINDING_LIMITS } from '../../../shared/limits.ts';
import { MINUTE } from '../../../shared/units.ts';

const FILES = {
  'src/retry.ts': 'export function nextBackoff(attempt: number) {\n  return attempt * 2;\n}\n',
  'src/secret/retry.ts': 'export function secretBackoff() {}\n',
  ...Object.fromEntries(
    Array.from({ length: 9 }, (_, at) => [`lib/long${at}.ts`, 'attempt(value);\n'.repeat(400)]),
  ),
};

const QUERY = 'Make the backoff of the third attempt longer';

it('finds the code of a message, within its bounds and without what rules close', async () => {
  const { index, context } = await indexed(FILES);
  const workspace = context.workspace.showing((name) => !name.startsWith('src/secret'));
  const { signal } = context;
  const find = (query: string, mode: 'agent' | 'debug') =>
    findCode({ index, modes: ['agent'] }, { search: { query, mode }, workspace, signal });
  // On a busy machine the first look can take longer than a message waits for code.
  const found = await vi.waitFor(
    async () => (await find(QUERY, 'agent')) ?? expect.unreachable('no code in time'),
    { timeout: 3 * MINUTE },
  );
  expect(found[0]).toBe(
    'src/retry.ts:1-3\n1|export function nextBackoff(attempt: number) {\n2|  return attempt * 2;\n3|}',
  );
  expect(found.length).toBeLessThanOrEqual(FINDING_LIMITS.maxPassages);
  expect(found.join('').length).toBeLessThan(FINDING_LIMITS.maxPassageChars);
  expect(found.join('')).not.toContain('secretBackoff');
  expect(await find(QUERY, 'debug')).toBeUndefined();
  expect(await find('yes, go on', 'agent')).toBeUndefined();
});

it('does not wait for an index that takes long', async () => {
  const { context } = await indexed({});
  const index = { find: () => new Promise<undefined>(() => {}) };
  const search = { query: QUERY, mode: 'agent' } as const;
  const look = { search, workspace: context.workspace, signal: context.signal };
  expect(await findCode({ index, modes: ['agent'] }, look)).toBeUndefined();
});
