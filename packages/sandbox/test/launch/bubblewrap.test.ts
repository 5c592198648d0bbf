import { expect, test } from 'vitest';
import { knownFaultOf } from '../../launch/bubblewrap.ts';

test.each([
  ['0.0.0', true],
  ['0.8.0', true],
  ['0.11.2', true],
  ['0.12.0', false],
  ['0.12', false],
  ['1.0.1', false],
])('bubblewrap %s has a known fault: %s', (version, hasFault) => {
  expect(knownFaultOf(version) !== undefined).toBe(hasFault);
});
