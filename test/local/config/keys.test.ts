import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openKey } from '../../../local/config/keys.ts';
import type { KeyReference } from '../../../local/config/schema.ts';
import { isAlive } from '../processes.ts';

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { PATH: process.env['PATH'], A: ' key-a \n', EMPTY: '', TWO: 'one\ntwo', ODD: 'ä' };

async function open(reference: KeyReference, signal = new AbortController().signal) {
  const warnings: string[] = [];
  const onWarning = (line: string) => void warnings.push(line);
  const key = await openKey({ reference, place: 'key', folder, env, onWarning }, signal);
  return { key, warnings };
}

function keyFile(name: string, text: string, mode = 0o600) {
  writeFileSync(join(folder, name), text, { mode });
  return { file: name };
}

const sh = (script: string): KeyReference => ({ command: ['sh', '-c', script] });

test.each<[string, KeyReference]>([
  ['key-a', { env: 'A' }],
  ['key-b', keyFile('b', 'key-b\n')],
  ['key-c', { file: join(folder, keyFile('c', '\nkey-c').file) }],
  ['key-d', sh('printf key-d')],
  ['key-e', { command: ['printf', '%s', 'key-e'] }],
  ['key-f', sh('sleep 60 & echo key-f')],
])('%s is where the reference says', async (key, reference) => {
  expect(await open(reference)).toEqual({ key, warnings: [] });
});

test('a command runs in the folder of config.json, not in a workspace that has a program of its name', async () => {
  const program = '#!/bin/sh\necho key-of-the-owner\n';
  writeFileSync(join(folder, 'print-key'), program, { mode: 0o700 });
  expect((await open({ command: ['./print-key'] })).key).toBe('key-of-the-owner');
  expect((await open({ command: ['pwd', '-P'] })).key).toBe(realpathSync(folder));
});

test('a file that all users may read is reported', async () => {
  const { key, warnings } = await open(keyFile('open', 'key', 0o644));
  expect(key).toBe('key');
  expect(warnings).toEqual([
    expect.stringMatching(/Every user .* may read .*open: run `chmod 600 /),
  ]);
});

describe('what gives no key is one sentence without the key', () => {
  mkdirSync(join(folder, 'directory'));
  test.each<[KeyReference, RegExp]>([
    [{ env: 'UNSET' }, /the variable UNSET is not set/],
    [{ env: 'EMPTY' }, /the variable EMPTY is not set/],
    [{ env: 'TWO' }, /the variable TWO has more than one line/],
    [{ env: 'ODD' }, /the variable ODD is no key/],
    [{ file: 'missing' }, /missing does not exist/],
    [{ file: 'directory' }, /directory is no file/],
    [{ file: '/dev/null' }, /null is no file/],
    [keyFile('blank', ' \n'), /blank is empty/],
    [keyFile('lines', 'one\ntwo\n'), /lines has more than one line/],
    [{ command: ['no-such-program'] }, /the command no-such-program was not found/],
    [{ command: [folder] }, /could not be started/],
    [{ command: ['/dev/null/tool'] }, /could not be started/],
    [{ command: ['printf', '\0'] }, /could not be started/],
    [sh('echo secret; exit 3'), /the command sh failed \(3\)/],
    [sh('kill -9 $$'), /the command sh failed \(killed\)/],
    [sh('true'), /what the command sh prints is empty/],
    [sh('echo one; echo two'), /has more than one line/],
    [sh('yes'), /prints far more than a key/],
  ])('%j', async (reference, message) => {
    const heard = process.listenerCount('SIGHUP');
    const error = await open(reference).catch((thrown) => thrown);
    expect(process.listenerCount('SIGHUP')).toBe(heard);
    expect(error).toMatchObject({ name: 'LocalError', kind: 'refused' });
    expect(error.message).toMatch(message);
    expect(error.message).toMatch(/^config\.json, key: [^\n]+\.$/);
    expect(error.message).not.toMatch(/secret|one\b.*two/);
  });
});

test('a command that hangs ends with the wait, and with it what it has started', async () => {
  const pidFile = join(folder, 'pid');
  const ending = new AbortController();
  const opening = open(
    sh(`sleep 1000 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait`),
    ending.signal,
  );
  opening.catch(() => {});
  await expect.poll(() => existsSync(pidFile)).toBe(true);
  ending.abort();
  await expect(opening).rejects.toThrow('abort');
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await expect.poll(() => isAlive(pid)).toBe(false);
});
