import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { chooseFormatter } from '../../formatting/own-list.ts';

const LIST = {
  formatters: [
    { files: ['.d.ts'], command: ['cat'] },
    { files: ['.ts', '.tsx'], command: ['npx', '--no', 'prettier', '--stdin-filepath={file}'] },
    { files: ['.py'], command: ['/opt/ruff', 'format', '-'] },
    { files: ['.ts'], command: ['never'] },
  ],
};

it.each([
  ['src/a.ts', 'prettier', ['npx', '--no', 'prettier', '--stdin-filepath=src/a.ts']],
  ["it's $& odd.tsx", 'prettier', ['npx', '--no', 'prettier', "--stdin-filepath=it's $& odd.tsx"]],
  ['-x.ts', 'prettier', ['npx', '--no', 'prettier', '--stdin-filepath=./-x.ts']],
  ['a.d.ts', 'cat', ['cat']],
  ['a.py', 'ruff', ['/opt/ruff', 'format', '-']],
])('the first formatter that takes the file is chosen: %s', async (file, name, words) => {
  const choice = await chooseFormatter(await stateWith(JSON.stringify(LIST)), file);
  expect(choice).toEqual({ state: 'chosen', formatter: { name, words } });
});

it.each(['a.js', '.ts', 'ts', 'a.ts/b'])('no formatter takes the file %s', async (file) => {
  const choice = await chooseFormatter(await stateWith(JSON.stringify(LIST)), file);
  expect(choice).toEqual({ state: 'none' });
});

it('without a list there is no formatter', async () => {
  expect(await chooseFormatter(await temporaryFolder(), 'a.ts')).toEqual({ state: 'none' });
});

it.each([
  '',
  '{',
  '[]',
  '{"formatters": [{"files": ["*.ts"], "command": ["cat"]}]}',
  '{"formatters": [{"files": [".ts"], "command": []}]}',
  '{"formatters": [{"files": [".ts"], "command": ["cat"], "shell": true}]}',
  `{"formatters": [], "x": "${'x'.repeat(100_000)}"}`,
])('a list that is not right formats nothing, and says what is expected', async (text) => {
  const choice = await chooseFormatter(await stateWith(text), 'a.ts');
  expect(choice).toMatchObject({
    state: 'unreadable',
    reason: expect.stringContaining('formatters.json in the state folder is not right'),
  });
});

async function stateWith(text: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'formatters.json'), text);
  return folder;
}
