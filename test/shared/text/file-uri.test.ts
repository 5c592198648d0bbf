import { expect, it } from 'vitest';
import { pathOfFileUri } from '../../../shared/text/file-uri.ts';

it.each([
  ['file:///work/a', '/work/a'],
  ['file:///work/a%20b/%C3%BC', '/work/a b/ü'],
  ['FILE://localhost/work', '/work'],
  ['file:///', '/'],
  ['file:///work/100%', 'file:///work/100%'],
  ['file:///C:/work', 'file:///C:/work'],
  ['file:///c%3A/work', 'file:///c%3A/work'],
  ['file://server/share', 'file://server/share'],
  ['C:\\work', 'C:\\work'],
  ['/work/a%20b', '/work/a%20b'],
  ['vscode-remote://ssh/work', 'vscode-remote://ssh/work'],
])('the folder %s is %s', (written, path) => {
  expect(pathOfFileUri(written)).toBe(path);
});
