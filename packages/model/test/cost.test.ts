import { expect, it } from 'vitest';
import type { Usage } from '../../../shared/wire/documents.ts';
import { addCosts, costOf } from '../cost.ts';

const PRICES = { input: 3, cachedInput: 0.3, output: 15, currency: 'USD' };

it.each<[string, Partial<Usage>, number]>([
  ['input and output', { promptTokens: 1_000_000, completionTokens: 100_000 }, 4.5],
  ['cached input apart', { promptTokens: 1_000_000, cachedPromptTokens: 900_000 }, 0.57],
  [
    'input written to a cache at the price of input',
    { promptTokens: 10, cacheWriteTokens: 9 },
    0.00003,
  ],
  ['no more cached than there was', { promptTokens: 10, cachedPromptTokens: 999 }, 0.000003],
  ['reasoning that only the total has', { promptTokens: 100, totalTokens: 1_100 }, 0.0153],
  ['nothing', {}, 0],
])('prices %s', (_, counted, amount) => {
  const { promptTokens = 0, completionTokens = 0 } = counted;
  const totalTokens = promptTokens + completionTokens;
  const usage = { promptTokens, completionTokens, totalTokens, ...counted };
  expect(costOf(usage, PRICES)).toEqual({ amount, currency: 'USD' });
});

it('takes cached input for any other where it has no price of its own', () => {
  const usage = { promptTokens: 10, completionTokens: 0, totalTokens: 10, cachedPromptTokens: 10 };
  expect(costOf(usage, { input: 1, output: 1, currency: 'EUR' })).toEqual({
    amount: 0.00001,
    currency: 'EUR',
  });
});

it('prices what was written to a cache, beside what was read from it', () => {
  const counted = { promptTokens: 1_000_000, completionTokens: 0, totalTokens: 1_000_000 };
  const usage = { ...counted, cachedPromptTokens: 500_000, cacheWriteTokens: 400_000 };
  expect(costOf(usage, { ...PRICES, cacheWrite: 3.75 })).toEqual(dollars(0.15 + 1.5 + 0.3));
});

const dollars = (amount: number) => ({ amount, currency: 'USD' });

it.each([
  [dollars(0.1), dollars(0.2), dollars(0.3)],
  [dollars(0.1), undefined, undefined],
  [undefined, dollars(0.1), undefined],
  [dollars(0.1), { amount: 1, currency: 'EUR' }, undefined],
])('adds %o and %o to %o', (a, b, sum) => {
  expect(addCosts(a, b)).toEqual(sum);
});
