import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backUp } from '../../local/backup/backup.ts';
import { restoreBackup } from '../../local/backup/restore.ts';
import { openServerState } from '../../local/state/state.ts';
import { openFormat } from '../../local/state/upgrade.ts';
import { canMount, mountSmallDisk, PAGE } from './small-disk.ts';
import { STEPS } from './state/upgrade-steps.ts';
import { temporaryFolder } from './temporary-folder.ts';

const OLD = { 'auth-secret': 'secret', 'settings.json': 'zero', 'projects/a/rules.json': 'zero' };
const NEW = { 'settings.json': 'two and three', 'projects/a/rules.json': 'two' };

/** Where mounts are not allowed, test/local/state/upgrade.deep.ts still has writes that fail. */
describe.skipIf(!canMount())('a disk with room for', () => {
  test('some of an upgrade leaves the old state, and the upgrade goes on once there is room', async () => {
    const folder = temporaryFolder();
    const disk = mountSmallDisk(folder, '400k');
    const dir = join(folder, 'state');
    const failures = await untilItFits(disk, {
      prepare: () => {
        rmSync(dir, { recursive: true, force: true });
        mkdirSync(join(dir, 'projects/a'), { recursive: true });
        for (const [path, text] of Object.entries({ ...OLD, old: 'zero' })) {
          writeFileSync(join(dir, path), text);
        }
      },
      attempt: async () => void (await openFormat(dir, STEPS)),
      afterFailure: async (message) => {
        expect(message).toMatch(/could not be upgraded \(ENOSPC.* can still use it: make room/);
        const { format } = await openFormat(dir, STEPS);
        expect([format, filesIn(dir)]).toEqual([3, expect.objectContaining(NEW)]);
      },
      whileFull: () => {
        if (!readdirSync(dir).includes('state.json')) expect(filesIn(dir)).toMatchObject(OLD);
      },
    });
    expect(failures).toBeGreaterThan(4);
    expect(filesIn(dir)).toMatchObject(NEW);
  });

  test('some of the copy for a backup leaves no copy and no backup', async () => {
    const folder = temporaryFolder();
    const disk = mountSmallDisk(folder, '600k');
    const dir = join(folder, 'state');
    await openServerState(dir);
    writeFileSync(join(dir, 'storage/one.sqlite'), 'x'.repeat(8 * PAGE));
    const before = filesIn(dir);
    const out = temporaryFolder();
    const file = join(out, 'backup.tar');
    const failures = await untilItFits(disk, {
      prepare: () => rmSync(file, { force: true }),
      attempt: async () => void (await backUp(dir, file)),
      whileFull: () => {
        expect(readdirSync(out)).toEqual([]);
        expect(filesIn(dir)).toMatchObject(before);
        const left = readdirSync(join(dir, 'backups')).filter((name) => name !== 'lock');
        expect(left).toEqual([]);
      },
      afterFailure: async (message) => {
        expect(message).toMatch(
          /cannot be copied for the backup \(ENOSPC\): make room on its disk/,
        );
      },
    });
    expect(failures).toBeGreaterThan(8);
    expect(readdirSync(out)).toEqual(['backup.tar']);
  });

  test('some of a backup, or of what is restored from it, leaves nothing', async () => {
    const folder = temporaryFolder();
    const disk = mountSmallDisk(folder, '600k');
    const dir = join(temporaryFolder(), 'state');
    await openServerState(dir);
    writeFileSync(join(dir, 'storage/one.sqlite'), 'x'.repeat(8 * PAGE));
    const file = join(folder, 'backup.tar');
    const leavesNothing = () => expect(readdirSync(folder)).toEqual(['filler']);
    const unwritten = await untilItFits(disk, {
      prepare: () => rmSync(file, { force: true }),
      attempt: async () => void (await backUp(dir, file)),
      whileFull: leavesNothing,
      afterFailure: async (message) => {
        expect(message).toMatch(
          /backup\.tar cannot be written \(ENOSPC\): make room, or name another/,
        );
      },
    });
    expect(unwritten).toBeGreaterThan(8);

    const kept = join(temporaryFolder(), 'backup.tar');
    cpSync(file, kept);
    rmSync(file);
    const restored = join(folder, 'restored');
    const unrestored = await untilItFits(disk, {
      prepare: () => rmSync(restored, { recursive: true, force: true }),
      attempt: async () => void (await restoreBackup(kept, restored, new Date())),
      whileFull: leavesNothing,
      afterFailure: async (message) => {
        expect(message).toMatch(
          /restored cannot be written \(ENOSPC\): make room.*Nothing was restored/,
        );
      },
    });
    expect(unrestored).toBeGreaterThan(8);
    expect(filesIn(restored)['storage/one.sqlite']).toHaveLength(8 * PAGE);
  });
});

interface Attempts {
  prepare(): void;
  attempt(): Promise<void>;
  /** Called while the disk is still full. */
  whileFull(): void;
  /** Called with the failure, once there is room. */
  afterFailure(message: string): Promise<void>;
}

/** Tries with no free page, one, two and so on, until it works. Returns how often it did not. */
async function untilItFits(
  disk: ReturnType<typeof mountSmallDisk>,
  { prepare, attempt, whileFull, afterFailure }: Attempts,
): Promise<number> {
  for (let pages = 0; ; pages++) {
    disk.empty();
    prepare();
    disk.fill(pages * PAGE);
    const message = await attempt().then(
      () => undefined,
      (error: Error) => `${error.name}: ${error.message}`,
    );
    if (message !== undefined) whileFull();
    disk.empty();
    if (message === undefined) return pages;
    expect(message).toMatch(/^LocalError: /);
    await afterFailure(message);
  }
}

function filesIn(dir: string): Record<string, string> {
  const all = readdirSync(dir, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1));
  return Object.fromEntries(
    paths
      .filter((path) => !/^(lock|backups)/.test(path))
      .map((path) => [path, readFileSync(join(dir, path), 'utf8')]),
  );
}
