import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TOOL_LIMITS } from '../../../../shared/limits.ts';
import { temporaryWorkspace } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { Sightings } from '../../search/sightings.ts';

const LARGE = Buffer.alloc(TOOL_LIMITS.maxFileBytes + 1, 'x\n');

test.each<[string, Record<string, string | Uint8Array>, number, string, boolean]>([
  ['a line of it', { 'a.txt': 'one\ntwo\n' }, 4, 'two\n', true],
  ['a line behind a byte order mark', { 'a.txt': '\uFEFFone\ntwo\n' }, 4, 'two\n', true],
  ['a line of UTF-16', { 'a.txt': Buffer.from('\uFEFFone\ntwo\n', 'utf16le') }, 4, 'two\n', true],
  ['a line of a large file', { 'a.txt': LARGE }, LARGE.length - 3, 'x\nx', true],
  ['another line', { 'a.txt': 'one\ntwo\n' }, 4, 'key\n', false],
  ['another line of a large file', { 'a.txt': LARGE }, LARGE.length - 3, 'key', false],
  ['a line past its end', { 'a.txt': 'one\n' }, 4, 'two\n', false],
  ['a line of a file that is gone', {}, 0, 'one\n', false],
])('of what a search has seen, a file confirms only what it holds: %s', async (...row) => {
  const [, files, offset, line, isThere] = row;
  const { path, context } = await temporaryWorkspace(files);
  const sightings = new Sightings(context.workspace, context.signal);
  const sighting = { path: path('a.txt'), offset, bytes: Buffer.from(line) };
  expect(await sightings.confirm(sighting)).toBe(isThere);
});

test('a link to outside or to a secret confirms nothing', async () => {
  const { root, path, context } = await temporaryWorkspace({ '.env': 'key\n' });
  await writeFile(join(root, '../outside'), 'key\n');
  await symlink('../outside', path('a'));
  await symlink('.env', path('b'));
  const sightings = new Sightings(context.workspace, context.signal);
  for (const name of ['a', 'b']) {
    const sighting = { path: path(name), offset: 0, bytes: Buffer.from('key\n') };
    expect(await sightings.confirm(sighting)).toBe(false);
  }
});

test('a search shows nothing of the outside while a command swaps a file for a link', async () => {
  const { root, call } = await temporaryWorkspace({ flip: 'nothing\n' });
  await writeFile(join(root, '../outside'), 'key\n');
  const swap =
    'while :; do ln -s ../outside l && mv -T l flip; echo nothing >n && mv -T n flip; done';
  const swapping = spawn('/bin/sh', ['-c', `echo; ${swap}`], { cwd: root });
  onTestFinished(async () => {
    swapping.kill('SIGKILL');
    await once(swapping, 'close');
  });
  await once(swapping.stdout, 'data');
  const until = performance.now() + 2_000;
  while (performance.now() < until) {
    for (const output_mode of ['content', 'count', 'files_with_matches']) {
      const { data } = await call('grep', { pattern: 'key', path: 'flip', output_mode });
      expect(data).not.toMatch(/^(?:1:key|flip:1|flip)$/m);
    }
  }
});
