import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { EDITOR_LIMITS } from '../../../../../shared/limits.ts';
import { EditorContext } from '../../../../../shared/wire/tunnel.ts';
import { temporaryFolder } from '../../../../../test/local/temporary-folder.ts';
import { Workspace } from '../../../../workspace/workspace.ts';
import { editorContext, withOneActive } from '../../../ide/link/context.ts';
import type { OpenFile } from '../../../ide/link/wire.ts';

let folder: string;
let root: string;
let workspace: Workspace;

beforeEach(async () => {
  folder = temporaryFolder();
  root = join(folder, 'project');
  mkdirSync(join(root, 'src'), { recursive: true });
  for (const name of ['src/a.ts', 'b.ts', '.env', '../outside.txt'])
    writeFileSync(join(root, name), '');
  workspace = await Workspace.open(root);
});

const opened = (path: string, fields: Partial<OpenFile> = {}): OpenFile => ({
  path,
  timestamp: 1,
  isActive: undefined,
  selectedText: undefined,
  cursor: undefined,
  ...fields,
});
const active = { isActive: true, cursor: { line: 3, character: 0 }, selectedText: 'let a' };

function contextOf(
  openFiles: OpenFile[],
  rules: Partial<Parameters<typeof editorContext>[1]> = {},
) {
  const all = { workspace, mayName: () => true, mayRead: () => true, ...rules };
  return editorContext({ name: 'Zed', openFiles }, all);
}

describe('of the open files', () => {
  test('the newest comes first, and only the newest is active', () => {
    const files = withOneActive([
      opened('/old', { timestamp: 1, ...active }),
      opened('/new', { timestamp: 3, ...active }),
      opened('/mid', { timestamp: 2, ...active }),
    ]);
    expect(files).toEqual([
      opened('/new', { timestamp: 3, ...active }),
      opened('/mid', { timestamp: 2 }),
      opened('/old', { timestamp: 1 }),
    ]);
  });

  test('none is active where the newest is not', () => {
    const files = withOneActive([
      opened('/old', { timestamp: 1, ...active }),
      opened('/new', { timestamp: 2, selectedText: 'x' }),
    ]);
    expect(files).toEqual([opened('/new', { timestamp: 2 }), opened('/old')]);
  });

  test('ten are shown, and of a long selection its start', async () => {
    const selectedText = 'x'.repeat(EDITOR_LIMITS.maxSelectedChars + 1);
    const paths = Array.from({ length: 12 }, (_, index) => {
      const path = join(root, `${index}.ts`);
      writeFileSync(path, '');
      return path;
    });
    const files = paths.map((path, index) =>
      opened(path, { timestamp: index, ...active, selectedText }),
    );
    const shown = EditorContext.parse(await contextOf(files));
    expect(shown.openFiles).toHaveLength(10);
    expect(shown.openFiles[0]?.path).toBe('11.ts');
    expect(shown.openFiles[0]?.selectedText).toMatch(
      /^x{16304}\n\.\.\. \(cut: 81 more characters, use read_file\)$/,
    );
  });
});

describe('a file', () => {
  test('is named relative to the workspace, through links too, with its place from 1', async () => {
    symlinkSync(root, join(folder, 'link'));
    const shown = await contextOf([
      opened(join(folder, 'link/src/a.ts'), active),
      opened(join(root, 'b.ts'), { timestamp: 0 }),
    ]);
    expect(shown).toEqual({
      name: 'Zed',
      openFiles: [
        {
          path: 'src/a.ts',
          isActive: true,
          selectedText: 'let a',
          cursor: { line: 3, character: 1 },
        },
        { path: 'b.ts' },
      ],
    });
  });

  test('outside the workspace is only named', async () => {
    const path = join(folder, 'outside.txt');
    expect(await contextOf([opened(path, active)])).toEqual({ name: 'Zed', openFiles: [{ path }] });
    symlinkSync(path, join(root, 'leads-out'));
    const shown = await contextOf([opened(join(root, 'leads-out'), active)]);
    expect(shown).toEqual({ name: 'Zed', openFiles: [{ path }] });
  });

  test.each(['relative.ts', 'untitled:Untitled-1', '/no/such/file', '/a\0b'])(
    'that is none on the disk is left out: %s',
    async (path) => {
      expect(await contextOf([opened(path, active)])).toEqual({ name: 'Zed', openFiles: [] });
    },
  );

  test('that the rules do not name is left out, and makes room for others', async () => {
    const files = [
      opened(join(root, 'src/a.ts'), active),
      opened(join(root, 'b.ts'), { timestamp: 0 }),
    ];
    const shown = await contextOf(files, { mayName: (name) => name !== 'src/a.ts' });
    expect(shown?.openFiles).toEqual([{ path: 'b.ts' }]);
  });

  test('of our own state is left out, wherever it lies', async () => {
    const closed = await Workspace.open(root, { closedPaths: [join(root, 'src')] });
    const shown = await contextOf([opened(join(root, 'src/a.ts'), active)], { workspace: closed });
    expect(shown?.openFiles).toEqual([]);
  });

  test('that the model may not read is shown without its selection', async () => {
    const cursor = { line: 3, character: 1 };
    const unread = await contextOf([opened(join(root, 'b.ts'), active)], { mayRead: () => false });
    expect(unread?.openFiles).toEqual([{ path: 'b.ts', isActive: true, cursor }]);
    const secret = await contextOf([opened(join(root, '.env'), active)]);
    expect(secret?.openFiles).toEqual([{ path: '.env', isActive: true, cursor }]);
  });
});
