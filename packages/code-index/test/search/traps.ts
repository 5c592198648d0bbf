/** What a command can put in the place of a file of ignore rules, and searches that must go on all the same. */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { readMachineContext } from '../../../../bridge/context/context.ts';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
} from '../../../../test/bridge/tools/temporary-workspace.ts';

export const FILES = {
  'needle.txt': 'needle\n',
  'sub/needle.md': 'needle\n',
  'sub/deep/needle.c': 'needle\n',
};

export const TRAPS: readonly [what: string, lay: (path: string) => unknown][] = [
  ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to an endless device', (path) => symlink('/dev/zero', path)],
  [
    'a link to a pipe',
    async (path) => {
      execFileSync('mkfifo', [`${path}.pipe`]);
      await symlink(`${path}.pipe`, path);
    },
  ],
  ['a folder', (path) => mkdir(path)],
  ['a link that leads nowhere', (path) => symlink('nowhere', path)],
  [
    'a file without end',
    async (path) => {
      await writeFile(path, '');
      await truncate(path, 2 ** 40);
    },
  ],
  [
    'a socket',
    async (path) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(path, resolve));
      onTestFinished(() => void server.close());
    },
  ],
];

/** The files whose place a trap can take. */
export const PLACES = ['.gitignore', '.ignore', '.rgignore'].flatMap((name) => [
  name,
  `sub/${name}`,
]);

export async function expectNoHold(place: string, lay: (path: string) => unknown): Promise<void> {
  const project = await temporaryWorkspace(FILES);
  await lay(project.path(place));
  await expectAllFound(project);
}

export const calls = (folder: string): Record<string, Record<string, unknown>> => ({
  list_dir: { target_directory: folder },
  glob_file_search: { target_directory: folder, glob_pattern: '*needle*' },
  grep: { path: folder, pattern: 'needle' },
  codebase_search: { target_directories: [folder], query: 'Where is the needle?' },
});

async function expectAllFound({ call, root }: TemporaryWorkspace): Promise<void> {
  for (const [tool, args] of Object.entries(calls('.'))) {
    const { status, data } = await call(tool, args);
    expect([tool, status]).toEqual([tool, 'success']);
    expect(data).toContain(tool === 'list_dir' ? 'sub/ (2 files)' : 'sub/deep/needle.c');
  }
  const { projectLayout } = await readMachineContext(root, new AbortController().signal);
  expect(projectLayout).toContain('needle.txt');
}
