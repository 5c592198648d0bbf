import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

const SCRIPT = join('local', 'ensure-installed.mjs');

test('while npm installs in silence, a line comes at least every ten seconds', async () => {
  const { code, lines } = await install('sleep 21');
  expect(code).toBe(0);
  const [first = { atMs: 0, text: '' }, ...later] = lines;
  expect(first.text).toContain('Installing the dependencies');
  expect(later.map(({ text }) => text)).toEqual([
    'Installing the dependencies: 10 s ...\n',
    'Installing the dependencies: 20 s ...\n',
  ]);
  for (const [at, { atMs }] of later.entries())
    expect(atMs - (lines[at]?.atMs ?? 0)).toBeLessThan(11_000);
});

test('a failed installation ends the command, and npm says why', async () => {
  const { code, lines } = await install('echo no network >&2; exit 3');
  const text = lines.map((line) => line.text).join('');
  expect([code, text]).toEqual([1, expect.stringMatching(/no network\n.*npm install failed/)]);
});

test('without npm it says what is missing', async () => {
  const { code, lines } = await install(undefined);
  const text = lines.map((line) => line.text).join('');
  expect([code, text]).toEqual([1, expect.stringMatching(/npm cannot be run \(ENOENT\)/)]);
});

/** Runs the script in a clone without packages, with a shell script in the place of npm. */
async function install(npm: string | undefined) {
  const clone = temporaryFolder();
  const bin = temporaryFolder();
  mkdirSync(join(clone, 'local'));
  cpSync(join(import.meta.dirname, '..', '..', SCRIPT), join(clone, SCRIPT));
  writeFileSync(join(clone, 'package-lock.json'), '{}');
  if (npm !== undefined) writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  const path = npm === undefined ? bin : [bin, process.env['PATH']].join(delimiter);
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const child = spawn(process.execPath, [join(clone, SCRIPT)], {
    env: { ...process.env, PATH: path },
    stdio: [...stdio],
  });
  const lines: { readonly atMs: number; readonly text: string }[] = [];
  child.stderr?.on('data', (data) => lines.push({ atMs: performance.now(), text: String(data) }));
  const [code] = await once(child, 'close');
  return { code, lines };
}
