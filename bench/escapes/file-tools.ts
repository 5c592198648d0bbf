/** What the bridge's file tools and an undo do after a command, in a folder whose names other programs exchange. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ToolFailure } from '../../machine/failure.ts';
import { moveFileAt, replaceFileAt, restoreAt, Workspace } from '../../packages/workspace/index.ts';

const signal = new AbortController().signal;
const bytes = (text: string) => new TextEncoder().encode(text);

/** Whether a refused call of a tool is all that has happened. */
async function attempted(call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!(error instanceof ToolFailure)) throw error;
  });
}

/** Writes, and restores as an undo does, a file and a link below a folder that may be a link by then. */
export async function writeThrough(folder: string, mark: string): Promise<void> {
  const workspace = await Workspace.open(folder);
  const writing = async (name: string, isEntry: boolean) => {
    const place = await workspace.resolve(name, 'write', { isEntry });
    if (!isEntry) return await replaceFileAt(place, bytes(mark), { expected: null, signal });
    const next = { content: bytes(mark), mode: 0o644, isLink: false };
    return await restoreAt(place, next, { keep: () => () => {}, signal });
  };
  await Promise.all(
    ['a/b/made', 'a/b/deep/made', 'a/b/notes.txt'].flatMap((name) =>
      [false, true].map((isEntry) => attempted(writing(name, isEntry))),
    ),
  );
}

/** Calls at once, of two workspaces, make every part of a repository; then the person's git looks at it. */
export async function makeRepositoryAtOnce(folder: string, fsmonitor: string): Promise<boolean> {
  const x = join(folder, 'sub/x');
  await rm(x, { recursive: true, force: true });
  await mkdir(join(folder, 'sub'), { recursive: true });
  const parts = {
    HEAD: 'ref: refs/heads/a\n',
    'objects/a': '',
    'refs/a': '',
    config: `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "${fsmonitor}"\n`,
  };
  const workspaces = await Promise.all(
    ['', 'sub'].map(async (at) => ({ at, workspace: await Workspace.open(join(folder, at)) })),
  );
  const calls = Object.entries(parts).flatMap(([name, text]) =>
    workspaces.map(async ({ at, workspace }, index) => {
      const target = at === '' ? `sub/x/${name}` : `x/${name}`;
      if (index === 0) {
        const place = await workspace.resolve(target, 'write');
        return await replaceFileAt(place, bytes(text), { expected: null, signal });
      }
      const source = `${name.replace('/', '-')}.part`;
      const from = await workspace.resolve(source, 'write');
      await attempted(replaceFileAt(from, bytes(text), { expected: null, signal }));
      const to = await workspace.resolve(target, 'write');
      return await moveFileAt(from, to, { expected: null, signal });
    }),
  );
  await Promise.all(calls.map(attempted));
  const { uid, gid } = await stat(folder);
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const asOwner = process.getuid?.() === 0 && { uid, gid };
  await promisify(execFile)('git', ['status'], { cwd: x, env, ...asOwner }).catch(() => undefined);
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(x, name)));
}
