import { describe, expect, it } from 'vitest';
import { ReadLedger } from '../../../bridge/tools/ledger.ts';
import { TOOL_LIMITS } from '../../../shared/limits.ts';

const seen = (text: string) => ({ hash: `hash of ${text.slice(0, 50)}`, text });

describe('ReadLedger', () => {
  it('tells unread, current and changed files apart', () => {
    const ledger = new ReadLedger();
    expect(ledger.standingOf('c', '/a', seen('x'))).toEqual({ state: 'unread' });
    ledger.remember('c', '/a', seen('x\ny\n'));
    expect(ledger.standingOf('c', '/a', seen('x\ny\n'))).toEqual({ state: 'current' });
    expect(ledger.standingOf('c', '/a', seen('x\nz\n'))).toEqual({
      state: 'changed',
      ranges: [{ startLine: 2, endLine: 2 }],
    });
    expect(ledger.standingOf('other', '/a', seen('x\ny\n'))).toEqual({ state: 'unread' });
  });

  it('forgets the oldest when there are too many files', () => {
    const ledger = new ReadLedger();
    for (let i = 0; i <= TOOL_LIMITS.maxLedgerFiles; i++) ledger.remember('c', `/${i}`, seen('x'));
    expect(ledger.hashOf('c', '/0')).toBe(null);
    expect(ledger.hashOf('c', '/1')).toBe(seen('x').hash);
  });

  it('forgets the oldest when there is too much text, and counts a file once', () => {
    const ledger = new ReadLedger();
    const half = seen('x'.repeat(TOOL_LIMITS.maxLedgerChars / 2));
    for (let i = 0; i < 5; i++) ledger.remember('c', '/same', half);
    ledger.remember('c', '/second', half);
    expect(ledger.hashOf('c', '/same')).toBe(half.hash);
    ledger.remember('c', '/third', seen('y'));
    expect(ledger.hashOf('c', '/same')).toBe(null);
    expect(ledger.hashOf('c', '/second')).toBe(half.hash);
  });
});
