import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openLogFile } from '../../../local/processes/log-file.ts';
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
