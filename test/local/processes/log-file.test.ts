import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { byLines, openLogFile } from '../../../local/processes/log-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

test('a log that cannot be written ends nothing, and still knows its end', () => {
  const path = join(temporaryFolder(), 'workerd.log');
  const log = openLogFile(path);
  log.append('one\n');
  expect(readFileSync(path, 'utf8')).toBe('one\n');
  rmSync(dirname(path), { recursive: true });
  log.append('two\n');
  expect(log.tail()).toEqual(['one', 'two']);
});

test('chunks of text become lines at whatever point they were split', () => {
  const text = 'one\n\ntwo\nand no end';
  for (let at = 0; at <= text.length; at++) {
    const lines: string[] = [];
    const take = byLines((line) => lines.push(line));
    take(text.slice(0, at));
    take(text.slice(at));
    expect(lines).toEqual(['one', '', 'two']);
  }
});

test('text without end comes in pieces', () => {
  const lines: string[] = [];
  const take = byLines((line) => lines.push(line));
  const chunk = 'x'.repeat(10_000);
  for (let count = 0; count < 100; count++) take(chunk);
  expect(lines.length).toBeGreaterThan(1);
  take('end\n');
  expect(lines.join('')).toBe(`${chunk.repeat(100)}end`);
});
