import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { printedAtOnceBy, printedBy, psOf } from '../../machine/printed.ts';
import { temporaryFolder } from '../local/temporary-folder.ts';

const sh = (script: string) => ['/bin/sh', '-c', script] as const;

/** Each has printed something that looks like an answer. */
const FAILED = [
  ['an exit code that is none of an answer', sh('echo some; exit 3')],
  ['a signal', sh('echo some; kill -9 $$')],
  ['a program that is late', sh('echo some; trap "exit 1" TERM; exec 1>&-; sleep 30 & wait')],
  ['too much output', sh('yes | head -c 2000000; exit 1')],
  ['a program that is not there', ['/nonexistent/program']],
] as const;

test.each(FAILED)('%s is no answer', async (_, asked) => {
  const how = { meant: [0, 1], timeout: 300 };
  await expect(printedBy(asked, how)).rejects.toThrow();
  expect(() => printedAtOnceBy(asked, how)).toThrow();
});

test.each([0, 1])('an answer may come with exit code %d', async (code) => {
  const asked = sh(`echo some; exit ${code}`);
  const answer = { code, output: 'some\n' };
  expect(await printedBy(asked, { meant: [0, 1] })).toEqual(answer);
  expect(printedAtOnceBy(asked, { meant: [0, 1] })).toEqual(answer);
});

test.each([
  ['echo T', 'T'],
  ['exit 1', ''],
  ['echo T; kill -9 $$', undefined],
  ['exit 2', undefined],
])('a ps that does %j says %j of a process', (script, said) => {
  const ps = join(temporaryFolder(), 'ps');
  writeFileSync(ps, `#!/bin/sh\n${script}\n`);
  chmodSync(ps, 0o755);
  if (said === undefined) expect(() => psOf('state', 1, ps)).toThrow();
  else expect(psOf('state', 1, ps)).toBe(said);
});

test('a system without ps says nothing of a process', () => {
  expect(psOf('lstart', 1, '/nonexistent/ps')).toBe('');
});
