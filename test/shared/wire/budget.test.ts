import { describe, expect, it } from 'vitest';
import { invalidRequest } from '../../../shared/errors.ts';
import {
  Budget,
  metLimit,
  nearLimits,
  remaining,
  type Spent,
} from '../../../shared/wire/budget.ts';

const NOTHING: Spent = { tokens: 0, cost: { amount: 0, currency: 'USD' }, seconds: 0, turns: 0 };

describe('a budget of a request', () => {
  it.each<[string, unknown]>([
    ['all limits', { maxTokens: 1, maxCost: 0.5, maxSeconds: 0.5, maxTurns: 1 }],
    ['a cost with its currency', { maxCost: { amount: 2, currency: 'EUR' } }],
  ])('takes %s', (_, budget) => {
    expect(Budget.parse(budget)).toEqual(budget);
  });

  it.each<[unknown, string]>([
    [{}, 'must have maxTokens, maxCost, maxSeconds or maxTurns'],
    [{ maxTokens: 0 }, 'maxTokens: Too small: expected number to be >0'],
    [{ maxTokens: 1.5 }, 'maxTokens: Invalid input: expected int, received number'],
    [{ maxTurns: -1 }, 'maxTurns: Too small: expected number to be >0'],
    [{ maxSeconds: 0 }, 'maxSeconds: Too small: expected number to be >0'],
    [{ maxSeconds: 1e9 }, 'maxSeconds: Too big: expected number to be <=2592000'],
    [{ maxCost: 0 }, 'maxCost: Too small: expected number to be >0'],
    [
      { maxCost: '1 USD' },
      'maxCost: must be an amount above 0, or {"amount": 0.5, "currency": "USD"}',
    ],
    [
      { maxCost: { amount: -1, currency: 'USD' } },
      'maxCost.amount: Too small: expected number to be >0',
    ],
    [
      { maxCost: { amount: 1, currency: 'usd' } },
      'maxCost.currency: must be a currency code such as USD',
    ],
    [{ maxToken: 5 }, 'maxToken: There is no such field'],
  ])('refuses %j', (budget, message) => {
    const { error } = Budget.safeParse(budget);
    expect(error && invalidRequest(error).message).toBe(message);
  });
});

describe('what is left of a budget', () => {
  const budget = {
    maxTokens: 100,
    maxCost: { amount: 1, currency: 'USD' },
    maxSeconds: 10,
    maxTurns: 5,
  };

  it('the whole budget is left at first', () => {
    expect(remaining(budget, NOTHING)).toEqual(budget);
    expect(nearLimits(budget, NOTHING)).toEqual([]);
  });

  it('each limit is left without the spent part, and never less than 0', () => {
    const spent = { tokens: 130, cost: { amount: 0.75, currency: 'USD' }, seconds: 4, turns: 5 };
    expect(remaining(budget, spent)).toEqual({
      maxTokens: 0,
      maxCost: { amount: 0.25, currency: 'USD' },
      maxSeconds: 6,
      maxTurns: 0,
    });
    expect(metLimit(budget, spent)).toBe('maxTokens');
  });

  it('only limits of the budget are left', () => {
    const spent = { ...NOTHING, tokens: 1_000_000 };
    expect(remaining({ maxTurns: 3 }, spent)).toEqual({ maxTurns: 3 });
    expect(metLimit({ maxTurns: 3 }, spent)).toBeNull();
  });

  it.each([null, { amount: 0, currency: 'EUR' }])(
    'no cost is left where it is unknown: %j',
    (cost) => {
      expect(metLimit({ maxCost: budget.maxCost }, { ...NOTHING, cost })).toBe('maxCost');
    },
  );

  it('a budget without a cost needs none', () => {
    expect(metLimit({ maxTurns: 3 }, { ...NOTHING, cost: null })).toBeNull();
  });

  it.each([
    [79, []],
    [80, ['maxTokens']],
    [100, ['maxTokens']],
  ])('after %i of 100 tokens these limits are near: %j', (tokens, near) => {
    expect(nearLimits(budget, { ...NOTHING, tokens })).toEqual(near);
  });
});
