import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findBubblewrap } from '../../../bridge/sandbox/bubblewrap.ts';
import { bubblewrapConfinement } from '../../../bridge/sandbox/bubblewrap-confinement.ts';
import { makeMemoryGroup } from '../../../bridge/sandbox/memory-group.ts';
import { run } from '../terminal/plain-launch.ts';
import { NO_BUBBLEWRAP, sandboxedWorkspace } from './sandboxed-workspace.ts';

const MIB = 1024 * 1024;

const NO_GROUP = await (async () => {
  if (NO_BUBBLEWRAP !== undefined) return NO_BUBBLEWRAP;
  using group = await makeMemoryGroup(256 * MIB);
  return group ? undefined : 'skipped: this process may make no control group';
})();

describe.skipIf(NO_GROUP)(`commands in a memory group ${NO_GROUP ?? ''}`, () => {
  test('take no more together than it has, and less goes through', async () => {
    const place = await sandboxedWorkspace();
    onTestFinished(place.remove);
    using group = await makeMemoryGroup(256 * MIB);
    const found = await findBubblewrap();
    if (!found.ok || !group) throw new Error('nothing to test with');
    const { bubblewrap } = found;
    const made = await bubblewrapConfinement(bubblewrap, place.account, place.surroundings, group);
    if (!made.ok) throw new Error(made.reason);
    using confinement = made.confinement;
    const take = async (command: string) => {
      const request = { command, cwd: place.surroundings.workspace, permissions: [] };
      return await confinement.start(request, async ({ launch, limits }) => ({
        limits,
        output: (await run(launch)).output,
      }));
    };
    // Without a line end in it, the last line is all that was read.
    const greedy = 'head -c 150M /dev/zero | tail -n 1 | wc -c';
    const { output, limits } = await take(`${greedy} & ${greedy} & wait`);
    expect(output).not.toBe(`${150 * MIB}\n`.repeat(2));
    expect(limits).toContain('0.3 GiB of memory for all commands together');
    expect((await take(greedy)).output).toBe(`${150 * MIB}\n`);
  });
});

/** Files as the kernel shows them, in a folder of the test. */
async function system(files: Readonly<Record<string, string>>, own: string, mount: string) {
  const base = await mkdtemp(join(tmpdir(), 'drawbridge-groups-'));
  onTestFinished(() => rm(base, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, name)), { recursive: true });
    await writeFile(join(base, name), text);
  }
  await writeFile(join(base, 'own'), own);
  await writeFile(join(base, 'mounts'), mount.replace('PLACE', join(base, 'groups')));
  return { base, files: { own: join(base, 'own'), mounts: join(base, 'mounts') } };
}

const SESSION = {
  'groups/cgroup.procs': '',
  'groups/cgroup.subtree_control': 'cpu memory\n',
  'groups/session/cgroup.procs': '',
  'groups/session/cgroup.subtree_control': 'cpu memory pids\n',
  'groups/session/terminal/cgroup.procs': '',
  'groups/session/terminal/cgroup.subtree_control': '\n',
};

describe('where a group is made', () => {
  test('below the nearest one that hands memory on', async () => {
    const mount = '30 1 0:26 / PLACE rw - cgroup2 cgroup2 rw';
    const { base, files } = await system(SESSION, '0::/session/terminal\n', mount);
    const group = await makeMemoryGroup(1_000, files);
    const folder = join(base, `groups/session/drawbridge-${process.pid}`);
    expect(await readFile(join(folder, 'memory.max'), 'utf8')).toBe('1000');
    expect(group?.prefix.at(-1)).toBe(join(folder, 'cgroup.procs'));
  });

  test('by the part of the tree that is mounted', async () => {
    const mount = '30 1 0:26 /pod PLACE rw - cgroup2 cgroup2 rw';
    const { base, files } = await system(SESSION, '0::/pod/session/terminal\n', mount);
    await makeMemoryGroup(1_000, files);
    expect(existsSync(join(base, `groups/session/drawbridge-${process.pid}`))).toBe(true);
  });

  test.each<[string, string, string]>([
    ['no group hands memory on', '0::/\n', '30 1 0:26 / PLACE/session/terminal rw - cgroup2 x rw'],
    ['its own group is not mounted', '0::/a\n', '30 1 0:26 /b PLACE rw - cgroup2 cgroup2 rw'],
    ['no groups are mounted', '0::/\n', '30 1 0:26 / PLACE rw - tmpfs tmpfs rw'],
    ['its own group is unknown', '', '30 1 0:26 / PLACE rw - cgroup2 cgroup2 rw'],
  ])('nowhere when %s', async (_, own, mount) => {
    const { files } = await system(SESSION, own, mount);
    expect(await makeMemoryGroup(1_000, files)).toBeUndefined();
  });

  test('in the place of those that killed bridges have left', async () => {
    const abandoned = 'groups/session/drawbridge-99999999';
    const mount = '30 1 0:26 / PLACE rw - cgroup2 cgroup2 rw';
    const { base, files } = await system(SESSION, '0::/session\n', mount);
    await mkdir(join(base, abandoned));
    await mkdir(join(base, `groups/session/drawbridge-${process.ppid}`));
    await makeMemoryGroup(1_000, files);
    expect(existsSync(join(base, abandoned))).toBe(false);
    expect(existsSync(join(base, `groups/session/drawbridge-${process.ppid}`))).toBe(true);
  });
});
