import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const module = (path: string) => JSON.stringify(join(import.meta.dirname, '../../bridge', path));

/** Opens all files that it may, starts what the bridge starts by itself, and prints what that said. */
const WITHOUT_FILES = `
import { closeSync, openSync } from 'node:fs';
import { judgeConfig } from ${module('quarantine/git-config.ts')};
import { startHolder } from ${module('sandbox/holder.ts')};
const all = async () => [
  await judgeConfig(Buffer.from('[core]'), 'git').then((judged) => judged === undefined),
  await startHolder([], '/bin/true', []).catch(({ message }) => message),
];
await all(); // Everything is loaded.
const open = [];
try {
  for (;;) open.push(openSync('/dev/null'));
} catch {}
const said = await all();
for (const file of open) closeSync(file);
console.log(JSON.stringify(said));
`;

test('programs that the bridge starts are told as not started where no more files may be opened', async () => {
  const few = 'ulimit -n 512; exec "$0" --input-type=module -e "$1"';
  const argv = ['-c', few, process.execPath, WITHOUT_FILES];
  const { stdout } = await promisify(execFile)('/bin/sh', argv);
  expect(JSON.parse(stdout)).toEqual([true, expect.stringContaining('EMFILE')]);
});
