/** A path is not a pattern: a name with signs of globs means the folder of that name, wherever it is written. */
import { describe, expect, it } from 'vitest';
import { matchesGlobs } from '../../../packages/prompt/globs.ts';
import { temporaryWorkspace } from './temporary-workspace.ts';

const NAMES = [
  ...[
    '[slug]',
    '[...slug]',
    '[[...slug]]',
    '[id].[ext]',
    '[a-z]',
    '[!a]',
    '[^a]',
    '[]',
    '[',
    ']',
    '[s',
  ],
  ...[
    '{a}',
    '{a,s}',
    'a{b',
    'a}b',
    '{}',
    '{a,{b}}',
    '(group)',
    '(.)s',
    '(..)(..)x',
    '(s|a)',
    '@modal',
    '@s(a)',
  ],
  ...[
    '+page',
    'a+b',
    '+(s)',
    '!s',
    '!(s)',
    '~s',
    '#s',
    '$s',
    '$id',
    '^s',
    '%5Bslug%5D',
    'a b',
    "it's",
    '"s"',
    '&s',
  ],
  ...[
    '_s',
    '-s',
    '--s',
    '.s',
    's.',
    'a,b',
    'a;b',
    'a=b',
    'a|b',
    'a<b',
    'a`b',
    'ä',
    '日本',
    's$',
    '[s]{a}',
    '{[a]}',
  ],
  ...['a[b]c', '[a]{b}(c)', '[[s]]', '[a][s]', '[slug]+(x)', '[!s]{a,b}'],
] as const;
const DECOYS = ['s', 'a', 'b', 'g', 'slug', '.'.repeat(3), 'x'];

describe.each(NAMES)('the folder %j', (name) => {
  const meant = `app/${name}/page.tsx`;
  const files = Object.fromEntries(
    [name, ...DECOYS.filter((decoy) => decoy !== name)].map((each) => [
      `app/${each}/page.tsx`,
      'needle\n',
    ]),
  );

  it('is found by tools as it is written, and no other one is', async () => {
    const { call } = await temporaryWorkspace(files);
    for (const glob_pattern of [`app/${name}/**`, `**/${name}/page.tsx`, meant])
      expect((await call('glob_file_search', { glob_pattern })).data, glob_pattern).toBe(
        `${meant}\n(1 file, newest first.)`,
      );
    const asked = { pattern: 'needle', output_mode: 'files_with_matches' };
    for (const where of [{ glob: `app/${name}/*.tsx` }, { glob: meant }, { path: `app/${name}` }])
      expect((await call('grep', { ...asked, ...where })).data, JSON.stringify(where)).toBe(
        `${meant}\n(1 file.)`,
      );
    expect(await call('read_file', { path: meant })).toMatchObject({ status: 'success' });
  });

  it('is matched by the globs of rules', () => {
    for (const glob of [`app/${name}/**`, `app/${name}/*.tsx`, meant, `**/${name}/*`])
      expect(matchesGlobs([glob], meant), glob).toBe(true);
  });

  it.each([`app/${name}/`, meant, `/${meant}`])(
    'is closed by the line %j of an ignore file',
    async (line) => {
      const { codeOf } = await temporaryWorkspace({ ...files, '.cursorignore': `${line}\n` });
      expect(await codeOf('read_file', { path: meant })).toBe('SECRET_PATH');
    },
  );
});

it('without a folder of that name, brackets and braces are the pattern that they are', async () => {
  const { call } = await temporaryWorkspace({ 'app/s/page.tsx': '', 'app/a/page.tsx': '' });
  const found = async (glob_pattern: string) =>
    (await call('glob_file_search', { glob_pattern })).data.split('\n').slice(0, -1).sort();
  expect(await found('app/[slug]/**')).toEqual(['app/s/page.tsx']);
  expect(await found('app/{a,s}/*')).toEqual(['app/a/page.tsx', 'app/s/page.tsx']);
});
