import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import { DISCOVERY_LIMITS } from '../../../ide/discovery/limits.ts';
import { holds, listRoots, realRoot } from '../../../ide/discovery/roots.ts';

const LISTS: [string, string | string[], string[]][] = [
  ['one path', '/a', ['/a']],
  ['a list by the delimiter', '/a:/b c', ['/a', '/b c']],
  ['a trailing delimiter', '/a:', ['/a']],
  ['a double and a leading delimiter', ':/a::/b', ['/a', '/b']],
  ['nothing', '', []],
  ['a delimiter alone', ':', []],
  ['relative entries', '.:..:a/b:/c', ['/c']],
  ['the root', '/', ['/']],
  ['a folder twice', '/a:/a', ['/a']],
  ['a JSON array', '["/a","/b:c","rel",""]', ['/a', '/b:c']],
  ['a JSON array of something else', '[1]', []],
  ['an array', ['/a', '', 'b'], ['/a']],
  ['a file URL', 'file:///a%20b', ['/a b']],
  ['file URLs among paths', '/x:file:///a:file:///b', ['/x', '/a', '/b']],
  ['a URL of another machine', 'file://server/a:vscode-remote://ssh/a:/b', ['/b']],
  ['a percent sign', '/a%20b', ['/a%20b']],
  ['a path that is too long', `/${'a/'.repeat(4_096)}:/b`, ['/b']],
];

test.each(LISTS)('reads %s', (_, list, roots) => {
  expect(listRoots(list)).toEqual(roots);
});

test('reads so many folders and no more', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `/${index}`);
  expect(listRoots(many.join(':'))).toEqual(many.slice(0, DISCOVERY_LIMITS.maxRoots));
});

const HOLDS: [NodeJS.Platform, string, string, boolean][] = [
  ['linux', '/ws', '/ws', true],
  ['linux', '/ws/', '/ws/a', true],
  ['linux', '/ws', '/ws2', false],
  ['linux', '/ws/a', '/ws', false],
  ['linux', '/ws', '/ws/..x', true],
  ['linux', '/ws', '/ws/..x/y', true],
  ['linux', '/', '/ws', true],
  ['linux', '/WS', '/ws', false],
  ['darwin', '/WS', '/ws/a', true],
  ['darwin', '/u\u0308', '/\u00fc/a', true],
];

test.each(HOLDS)('on %s %s holds %s: %s', (platform, root, folder, expected) => {
  expect(holds(root, folder, platform)).toBe(expected);
});

test('finds the real path of a folder, encoded or not, there or not', async () => {
  const base = temporaryFolder();
  for (const name of ['a b', 'c%20d', 'c d']) mkdirSync(join(base, name));
  symlinkSync(join(base, 'a b'), join(base, 'link'));
  expect(await realRoot(join(base, 'link'))).toBe(join(base, 'a b'));
  expect(await realRoot(join(base, 'a%20b'))).toBe(join(base, 'a b'));
  expect(await realRoot(join(base, 'c%20d'))).toBe(join(base, 'c%20d'));
  expect(await realRoot(join(base, 'link/gone/deep'))).toBe(join(base, 'a b/gone/deep'));
  expect(await realRoot(join(base, '100%'))).toBe(join(base, '100%'));
  expect(await realRoot('/')).toBe('/');
});
