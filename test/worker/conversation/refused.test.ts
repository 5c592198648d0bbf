import { expect, it } from 'vitest';
import { REFUSAL_CASES, refusalCase, tryRefusal } from './refusing.ts';

// Every 23rd case: 23 has no factor in common with any of the three lists.
const SAMPLE = Array.from({ length: Math.floor(REFUSAL_CASES / 23) }, (_, index) => index * 23);

const named = (number: number) => ({ number, ...refusalCase(number) });

it.each(SAMPLE.map(named))(
  'a conversation goes on after the refusal $number: $kind.0 because of $place, $dialect',
  async (refusal) => {
    const { first, second, third, requests } = await tryRefusal(refusal);
    const shown = JSON.stringify({ first, second, third }, null, 1);
    expect([second.became, third.became, requests], shown).toEqual(['completed', 'completed', 1]);
    const isOfPart = ['picture', 'result'].includes(refusal.place);
    if (isOfPart) expect(first.became, shown).toBe('completed');
    const all = [first, second].flatMap(({ documents }) => documents);
    const codes = all.map(({ metadata }) => metadata['errorCode']).filter(Boolean);
    expect(codes.length, shown).toBeGreaterThan(0);
  },
);
