import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatLogLine, LOG_EVENTS } from '../../machine/log-line.ts';

test('an entry is one line of JSON, whatever it quotes, and short', () => {
  const message = `a\nb\u202e${'x'.repeat(100_000)}`;
  const line = formatLogLine({ event: 'bridge_lost', message }, new Date(0));
  expect(line.length).toBeLessThan(700);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toEqual({
    time: '1970-01-01T00:00:00.000Z',
    level: 'warn',
    event: 'bridge_lost',
    message: expect.stringMatching(/^a\\u\{a\}b\\u\{202e\}x+$/),
  });
});

test('every event has its row in the documentation, and every row its event', () => {
  const page = join(import.meta.dirname, '..', '..', 'docs', 'observability.md');
  const [, part = ''] = readFileSync(page, 'utf8').split('### Of the local server and its bridges');
  const [table = ''] = part.split('\n## ');
  const rows = [...table.matchAll(/^\| `(\w+)` +\|/gm)].map(([, event]) => event);
  expect(rows.sort()).toEqual([...LOG_EVENTS].sort());
});
