import { describe, expect, it } from 'vitest';
import { TOOL_LIMITS } from '../../../shared/limits.ts';
import { ReadLedger } from '../ledger.ts';

const seen = (text: string) => ({ hash: `hash of ${text.slice(0, 50)}`, bytes: Buffer.from(text) });

describe('ReadLedger', () => {
  it('distinguishes unread, current and changed files', () => {
    const ledger = new ReadLedger();
    const [old, now] = [seen('x\ny\n'), seen('x\nz\n')];
    expect(ledger.standingOf('c', '/a', now.hash)).toEqual({ state: 'unread' });
    ledger.remember('c', '/a', old);
    expect(ledger.standingOf('c', '/a', old.hash)).toEqual({ state: 'current' });
    expect(ledger.standingOf('c', '/a', now.hash)).toEqual({ state: 'changed', bytes: old.bytes });
    expect(ledger.standingOf('other', '/a', old.hash)).toEqual({ state: 'unread' });
  });

  it('forgets the oldest when there are too many files', () => {
    const ledger = new ReadLedger();
    for (let i = 0; i <= TOOL_LIMITS.maxLedgerFiles; i++) ledger.remember('c', `/${i}`, seen('x'));
    expect(ledger.hashOf('c', '/0')).toBe(null);
    expect(ledger.hashOf('c', '/1')).toBe(seen('x').hash);
  });

  it('forgets the oldest when there is too much text, and counts a file once', () => {
    const ledger = new ReadLedger();
    const half = seen('x'.repeat(TOOL_LIMITS.maxLedgerBytes / 2));
    for (let i = 0; i < 5; i++) ledger.remember('c', '/same', half);
    ledger.remember('c', '/second', half);
    expect(ledger.hashOf('c', '/same')).toBe(half.hash);
    ledger.remember('c', '/third', seen('y'));
    expect(ledger.hashOf('c', '/same')).toBe(null);
    expect(ledger.hashOf('c', '/second')).toBe(half.hash);
  });

  it('lists the files of one conversation, the latest first, without those of another', () => {
    const ledger = new ReadLedger();
    ledger.remember('c', '/a', seen('a'));
    ledger.remember('conv', '/x', seen('x'));
    ledger.remember('c', '/b', seen('b'));
    ledger.remember('c', '/a', seen('A'));
    expect(ledger.filesOf('c')).toEqual([
      ['/a', seen('A')],
      ['/b', seen('b')],
    ]);
  });

  it('knows when a conversation worked before, for a bounded number of them', () => {
    const ledger = new ReadLedger();
    expect(ledger.worked('c', 1)).toBeUndefined();
    expect(ledger.worked('c', 2)).toBe(1);
    for (let i = 0; i < TOOL_LIMITS.maxLedgerFiles; i++) ledger.worked(`other-${i}`, i);
    expect(ledger.worked('c', 3)).toBeUndefined();
  });
});
