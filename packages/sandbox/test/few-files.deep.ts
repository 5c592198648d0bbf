import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const at = (path: string) => JSON.stringify(join(import.meta.dirname, path));

/** Opens all files that it may, starts everything that the bridge starts, and prints what that said. */
const WITHOUT_FILES = `
import { closeSync, openSync } from 'node:fs';
import { judgeConfig } from ${at('../quarantine/git-config.ts')};
import { startHolder } from ${at('../launch/holder.ts')};
import { plainLaunch, run } from ${at('terminal/plain-launch.ts')};
const endOf = async (hasPidNamespace) =>
  (await run({ ...plainLaunch('true'), hasPidNamespace })).end;
const all = async () => ({
  command: await endOf(false),
  sandboxed: await endOf(true),
  git: (await judgeConfig(Buffer.from('[core]'), 'git')) ?? 'not judged',
  holder: await startHolder([], '/bin/true', []).catch(({ message }) => message),
});
await all(); // Everything is loaded.
const open = [];
try {
  for (;;) open.push(openSync('/dev/null'));
} catch {}
const said = await all();
for (const file of open) closeSync(file);
console.log(JSON.stringify(said));
`;

test('where no more files may be opened, the bridge says what it could not start', async () => {
  const few = 'ulimit -n 512; exec "$0" --input-type=module -e "$1"';
  const argv = ['-c', few, process.execPath, WITHOUT_FILES];
  const { stdout } = await promisify(execFile)('/bin/sh', argv);
  const message = expect.stringContaining('EMFILE');
  const notStarted = { state: 'not_started', message };
  expect(JSON.parse(stdout)).toEqual({
    command: notStarted,
    sandboxed: notStarted,
    git: 'not judged',
    holder: message,
  });
});
