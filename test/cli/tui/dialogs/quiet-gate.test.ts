import { expect, it } from 'vitest';
import {
  BURST_MS,
  QUIET_MS,
  QuietGate,
  STANDING_MS,
} from '../../../../cli/tui/dialogs/quiet-gate.ts';

function newGate() {
  let nowMs = 1_000;
  const gate = new QuietGate(() => nowMs);
  const after = (ms: number) => {
    nowMs += ms;
    return gate.admit();
  };
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { gate, after, wait };
}

it('takes no key before the dialog was drawn, however long ago it was made', () => {
  const { gate, after } = newGate();
  expect(after(10 * STANDING_MS)).toBe('ignore');
  expect(gate.closedMs).toBe(undefined);
});

it('takes a key once the dialog has stood long enough', () => {
  const { gate, after } = newGate();
  gate.drawn();
  expect(gate.closedMs).toBe(STANDING_MS);
  expect(after(STANDING_MS - QUIET_MS - 1)).toBe('ignore');
  expect(after(QUIET_MS)).toBe('ignore');
  expect(after(QUIET_MS)).toBe('answer');
});

it('stays closed to a person who types on, for any length of time', () => {
  const { gate, after, wait } = newGate();
  gate.drawn();
  for (let key = 0; key < 1_000; key++) expect(after(QUIET_MS - 1)).toBe('ignore');
  expect(gate.closedMs).toBe(QUIET_MS);
  wait(QUIET_MS);
  expect(gate.closedMs).toBe(0);
  expect(after(0)).toBe('answer');
});

it('lets keys that follow each other at once move, but not answer', () => {
  const { gate, after } = newGate();
  gate.drawn();
  expect(after(STANDING_MS)).toBe('answer');
  expect(after(0)).toBe('move');
  expect(after(BURST_MS - 1)).toBe('move');
  expect(after(BURST_MS)).toBe('answer');
});

it('begins anew where something else stands', () => {
  const { gate, after } = newGate();
  gate.drawn();
  expect(after(STANDING_MS)).toBe('answer');
  gate.close();
  expect(after(10 * STANDING_MS)).toBe('ignore');
  gate.drawn();
  gate.drawn();
  expect(after(STANDING_MS - 1)).toBe('ignore');
  expect(after(QUIET_MS)).toBe('answer');
});
