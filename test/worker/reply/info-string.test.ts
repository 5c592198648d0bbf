import { expect, it } from 'vitest';
import { parseInfoString } from '../../../worker/reply/info-string.ts';

/** Path of a reference -> its language. */
const PATHS: readonly (readonly [string, string])[] = [
  ['src/main.py', 'python'],
  ['a/b.test.TS', 'typescript'],
  ['C:\\src\\App.tsx', 'tsx'],
  ['deploy/Dockerfile', 'dockerfile'],
  ['CMakeLists.txt', 'cmake'],
  ['package.json', 'json'],
  ['tsconfig.json', 'jsonc'],
  ['.gitignore', 'ignore'],
  ['notes.xyz', 'plaintext'],
  ['go', 'plaintext'],
  ['dir.py/LICENSE', 'plaintext'],
  ['constructor', 'plaintext'],
];

it.each(PATHS)('takes the language of the reference %s from its name: %s', (filePath, language) => {
  expect(parseInfoString(` 3:7:${filePath} `)).toEqual({
    type: 'code_reference',
    filePath,
    startLine: 3,
    endLine: 7,
    language,
  });
});

/** Info string -> the language of its code. */
const LANGUAGES: readonly (readonly [string, string])[] = [
  ['', 'plaintext'],
  [' \t', 'plaintext'],
  ['ts', 'ts'],
  ['\tpy title="12:14:a.py"', 'py'],
  ['python:src/main.py', 'python'],
  ['c++:a b.cc', 'c++'],
  ['objective-c:/w/a.m', 'objective-c'],
  ['rust,ignore', 'rust'],
  ['ts{1,3} title="a"', 'ts'],
  ['C:\\src\\App.tsx', 'C:\\src\\App.tsx'],
  ['https://a.test/', 'https://a.test/'],
  ['a.py:12', 'a.py:12'],
  ['src/main.py:12', 'src/main.py:12'],
  ['12:14', '12:14'],
  ['12:14:', '12:14:'],
  ['-1:4:a.py', '-1:4:a.py'],
  ['1:12345678901:a.py', '1:12345678901:a.py'],
];

it.each(LANGUAGES)('takes the language of %j from its first word', (info, language) => {
  expect(parseInfoString(info)).toMatchObject({ type: 'code_block', language });
});

it('recognises a fence that is longer than usual', () => {
  const block = { type: 'code_block', language: 'md', purpose: 'new_code' };
  expect(parseInfoString('md', { length: 3 })).toEqual(block);
  expect(parseInfoString('md', { length: 4 })).toEqual({ ...block, fenceLength: 4 });
});

it.each<[string, string, string]>([
  ['ts', '', 'new_code'],
  ['ts', 'Put this into `a.ts`:', 'new_code'],
  ['ts example', '', 'example'],
  ['suggestion', '', 'suggestion'],
  ['ts title="a" Suggestion', 'For example:', 'suggestion'],
  ['diff', 'For example:', 'suggestion'],
  ['console', '', 'example'],
  ['ts', 'For example:', 'example'],
  ['ts', '**Usage:**', 'example'],
  ['py', 'Ein Beispiel:', 'example'],
  ['ts', 'You could write this instead:', 'suggestion'],
  ['ts', 'I suggest:', 'suggestion'],
])('knows what code with the info %j behind %j is for: %s', (info, lead, purpose) => {
  expect(parseInfoString(info, { lead })).toMatchObject({ type: 'code_block', purpose });
});
