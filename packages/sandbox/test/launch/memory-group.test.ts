import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MIB } from '../../../../shared/units.ts';
import type { SandboxSurroundings } from '../../launch/confinement.ts';
import { enterMemoryGroup } from '../../launch/memory-group.ts';
import { freshWorkspace, NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';

/** What a bridge prints whose group has so many MiB: the commands' outputs, and its own end. */
async function boundedBridge(surroundings: SandboxSurroundings, commands: readonly string[]) {
  const bridge = spawn(process.execPath, [join(import.meta.dirname, 'bounded-bridge.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  bridge.stdin.end(JSON.stringify({ surroundings, commands, bytes: 384 * MIB }));
  return JSON.parse(await text(bridge.stdout));
}

const until = (condition: string) => `until [ ${condition} ]; do sleep 0.05; done`;

describe.skipIf(NO_BUBBLEWRAP)(
  `commands of a bridge in a memory group ${NO_BUBBLEWRAP ?? ''}`,
  () => {
    test('take no more together than it has, less goes through, and the bridge lives on', async (context) => {
      const place = await freshWorkspace();
      // Without a line end in it, the last line is all that was read.
      const held = 'head -c 200M /dev/zero | tail -n 1';
      const greedy = `${held} | wc -c`;
      // The first one keeps all that it has read until the second one is over.
      const keeper = `${held} | { dd bs=1 count=1 of=full status=none; ${until('-e over')}; wc -c; }`;
      const report = await boundedBridge(place.surroundings, [
        `${keeper} & ${until('-s full')}; ${greedy}; touch over; wait`,
        greedy,
      ]);
      if (report === null) return context.skip('this process may make no control group');
      const all = 200 * MIB;
      expect(report.outputs[0]).not.toBe(`${all}\n${all - 1}\n`);
      expect(report.outputs[1]).toBe(`${all}\n`);
      expect(report.limits).toContain('0.4 GiB of memory for all commands together');
    });
  },
);

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
    const group = await enterMemoryGroup(1_000, files);
    const folder = join(base, `groups/session/drawbridge-${process.pid}`);
    expect(await readFile(join(folder, 'memory.max'), 'utf8')).toBe('1000');
    expect(await readFile(join(folder, 'cgroup.procs'), 'utf8')).toBe(String(process.pid));
    group?.[Symbol.dispose]();
    const back = join(base, 'groups/session/terminal/cgroup.procs');
    expect(await readFile(back, 'utf8')).toBe(String(process.pid));
  });

  test('by the part of the tree that is mounted', async () => {
    const mount = '30 1 0:26 /pod PLACE rw - cgroup2 cgroup2 rw';
    const { base, files } = await system(SESSION, '0::/pod/session/terminal\n', mount);
    await enterMemoryGroup(1_000, files);
    expect(existsSync(join(base, `groups/session/drawbridge-${process.pid}`))).toBe(true);
  });

  test.each<[string, string, string]>([
    ['no group hands memory on', '0::/\n', '30 1 0:26 / PLACE/session/terminal rw - cgroup2 x rw'],
    ['its own group is not mounted', '0::/a\n', '30 1 0:26 /b PLACE rw - cgroup2 cgroup2 rw'],
    ['no groups are mounted', '0::/\n', '30 1 0:26 / PLACE rw - tmpfs tmpfs rw'],
    ['its own group is unknown', '', '30 1 0:26 / PLACE rw - cgroup2 cgroup2 rw'],
  ])('nowhere when %s', async (_, own, mount) => {
    const { files } = await system(SESSION, own, mount);
    expect(await enterMemoryGroup(1_000, files)).toBeUndefined();
  });

  test('in the place of those that killed bridges have left', async () => {
    const abandoned = 'groups/session/drawbridge-99999999';
    const mount = '30 1 0:26 / PLACE rw - cgroup2 cgroup2 rw';
    const { base, files } = await system(SESSION, '0::/session\n', mount);
    await mkdir(join(base, abandoned));
    await mkdir(join(base, `groups/session/drawbridge-${process.ppid}`));
    await enterMemoryGroup(1_000, files);
    expect(existsSync(join(base, abandoned))).toBe(false);
    expect(existsSync(join(base, `groups/session/drawbridge-${process.ppid}`))).toBe(true);
  });
});
