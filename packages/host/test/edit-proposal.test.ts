import { expect, it } from 'vitest';
import { FileEditMetadata } from '../../../shared/wire/documents.ts';
import { temporaryWorkspace } from '../../../test/bridge/tools/temporary-workspace.ts';
import { keepFoldersInMemory } from '../../../test/in-memory.ts';

keepFoldersInMemory();

const LINES = Array.from({ length: 2_000 }, (_, at) => `this is the line number ${at}\n`);

it('shows two distant changes in two hunks, without the lines between', async () => {
  const { call } = await temporaryWorkspace({ 'a.txt': LINES.join('') });
  const code_edit = [
    ...['# ... existing code ...\n', ...LINES.slice(9, 11), 'first\n', ...LINES.slice(11, 13)],
    ...['# ... existing code ...\n', ...LINES.slice(1_900, 1_902), 'second\n', LINES[1_902]],
    '# ... existing code ...\n',
  ].join('');
  const result = await call('edit_file', { target_file: 'a.txt', code_edit });
  expect(result.data).toBe(
    'Edited a.txt (2000 lines before, 2002 now).\n@@ line 12 @@\n+first\n@@ line 1903 @@\n+second',
  );
  const { diff, hunks } = FileEditMetadata.parse(result.metadata);
  expect(diff).toBeNull();
  expect(hunks?.map(({ startLine }) => startLine)).toEqual([11, 1_902]);
});

it('says that a long diff was cut', async () => {
  const { call } = await temporaryWorkspace({ 'a.txt': LINES.join('') });
  await call('read_file', { target_file: 'a.txt' });
  const contents = LINES.map((line) => line.toUpperCase()).join('');
  const { data } = await call('write', { path: 'a.txt', contents });
  expect(data.length).toBeLessThan(2_200);
  expect(data).toContain('-this is the line number 0');
  expect(data).toMatch(/\(cut: [\d,]+ more lines, use read_file\)$/);
});
