import { expect, test } from 'vitest';
import { confinementText } from '../../../cli/server/ready.ts';

test.each([
  ['bubblewrap', 'run in a sandbox. Why.'],
  ['sandbox-runtime', 'run in a sandbox. Why.'],
  ['none', 'run without a sandbox, so each one asks you first. Why.'],
] as const)('commands with %s are described with the detail', (kind, text) => {
  expect(confinementText({ kind, detail: 'Why.' })).toBe(text);
});
