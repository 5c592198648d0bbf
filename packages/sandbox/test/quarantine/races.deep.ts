import { mkdir, readdir, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import { NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { guardedWorkspace } from './guarded-workspace.ts';

const ATTEMPTS = deep(100);

/** Exchanges folders and repositories with links to a repository outside, as fast as it can. */
const SWAPPER = `
import ctypes, os, shutil
libc = ctypes.CDLL(None, use_errno=True)
def swap(a, b): libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
outside = os.path.abspath('../outside/victim')
def ready():
    for name in ('a', 'c'):
        git = name + '/.git'
        if os.path.islink(name) or os.path.lexists(git): continue
        try:
            os.makedirs(git + '/hooks'); os.makedirs(git + '/objects'); os.makedirs(git + '/refs')
            open(git + '/HEAD', 'w').write('ref: refs/heads/main')
            open(git + '/config', 'w').write('[core]\\n\\tfsmonitor = touch owned\\n')
            open(git + '/hooks/pre-commit', 'w').write('touch owned')
        except OSError: pass
os.makedirs('a', exist_ok=True); os.makedirs('c', exist_ok=True)
os.symlink(outside, 'b'); os.symlink(outside + '/.git', 'link'); os.symlink(outside + '/.git/hooks', 'hooks')
while True:
    ready()
    for _ in range(50):
        swap('a', 'b'); swap('c/.git', 'link'); swap('c/.git/hooks', 'hooks')
        swap('a', 'b'); swap('link', 'c/.git'); swap('hooks', 'c/.git/hooks')
`;

/** Every path below a folder, with the text of the files. */
async function contentOf(folder: string): Promise<readonly (readonly [string, string])[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.map((entry) => [`${entry.parentPath}/${entry.name}`, entry] as const);
  return await Promise.all(
    files.map(async ([path, entry]) => [
      path,
      entry.isFile() ? await readFile(path, 'utf8') : 'folder',
    ]),
  );
}

describe.skipIf(NO_BUBBLEWRAP)(
  `a command that swaps names meanwhile ${NO_BUBBLEWRAP ?? ''}`,
  () => {
    test('neither keeps a repository nor makes the bridge touch anything outside', async () => {
      const { run, place, background, guard, quarantined } = await guardedWorkspace({
        withRepository: false,
        before: async (at) => {
          await mkdir(at.path('outside/victim'));
          await at.put('outside/victim/.git/config', '[core]\n\tfsmonitor = mine\n');
          await at.put('outside/victim/.git/hooks/pre-commit', 'mine');
          await at.put('workspace/swap.py', SWAPPER);
        },
      });
      const before = await contentOf(place.path('outside'));
      await run('python3 swap.py', { is_background: true });
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        await run('true');
        expect(await contentOf(place.path('outside')), `attempt ${attempt}`).toEqual(before);
      }
      await background.endAll();
      await guard.close();
      expect(quarantined()).toEqual(expect.arrayContaining(['a/.git', 'c/.git']));
      for (const name of ['a', 'b', 'c']) {
        const git = await place.text(`workspace/${name}/.git/config`);
        expect(git ?? '').not.toContain('touch owned');
      }
      expect(await contentOf(place.path('outside'))).toEqual(before);
    });
  },
);
