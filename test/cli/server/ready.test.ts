import { expect, test } from 'vitest';
import { confinementText, type Ready, readyText } from '../../../cli/server/ready.ts';

test('what up prints breaks between words at the width of the terminal', () => {
  const ready: Ready = {
    url: 'http://127.0.0.1:8787',
    token: '',
    bridgeId: 'bridge',
    confinement: {
      kind: 'bubblewrap',
      detail: 'They reach neither secrets nor more. '.repeat(4).trim(),
    },
    model: { name: 'demo', text: 'built-in demo (no LLM)' },
    workspaceDir: '/w',
    locationWords: [],
  };
  const text = readyText(ready, 60);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  expect(text).toContain('\n             neither secrets');
  expect(text.replaceAll(/\n {13}(?=\S)/g, ' ')).toBe(readyText(ready, undefined));
});

test.each([
  ['bubblewrap', 'run in a sandbox. Why.'],
  ['sandbox-runtime', 'run in a sandbox. Why.'],
  ['none', 'run without a sandbox, so each one asks you first. Why.'],
] as const)('commands with %s are described with the detail', (kind, text) => {
  expect(confinementText({ kind, detail: 'Why.' })).toBe(text);
});
