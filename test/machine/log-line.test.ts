import { expect, test } from 'vitest';
import { formatLogLine } from '../../machine/log-line.ts';

test('an entry is one line of JSON, whatever it quotes, and short', () => {
  const message = `a\nb\u202e${'x'.repeat(100_000)}`;
  const line = formatLogLine({ event: 'server_notice', message }, new Date(0));
  expect(line.length).toBeLessThan(700);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({
    ...{ time: '1970-01-01T00:00:00.000Z', level: 'warn', event: 'server_notice' },
    message: expect.stringMatching(/^a\\u\{a\}b\\u\{202e\}x+$/),
  });
});
