import { expect, it } from 'vitest';
import { REFUSAL_CASES, refusalCase, tryRefusal } from './refusing.ts';

it('a conversation goes on after every refusal, wherever its cause stands', async () => {
  const failed: unknown[] = [];
  for (let number = 0; number < REFUSAL_CASES; number++) {
    const refusal = refusalCase(number);
    const { first, second, third, requests } = await tryRefusal(refusal);
    const became = [first.became, second.became, third.became];
    const isOfPart = ['picture', 'result'].includes(refusal.place);
    const isRight =
      second.became === 'completed' &&
      third.became === 'completed' &&
      requests === 1 &&
      (first.became === 'completed' || !isOfPart);
    if (!isRight) failed.push({ number, ...refusal, became, requests });
  }
  expect(failed).toEqual([]);
});
