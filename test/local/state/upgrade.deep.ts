import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { LOCAL_LIMITS } from '../../../local/limits.ts';
import { FORMAT_STEPS } from '../../../local/state/format.ts';
import { openState } from '../../../local/state/state.ts';
import { openFormat } from '../../../local/state/upgrade.ts';
import { takeLock } from '../../../machine/lock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { filesIn } from './archived-files.ts';
import { type Fault, onFaultyDisk } from './faulty-disk.ts';
import { STEPS } from './upgrade-steps.ts';

const LOCAL = join(import.meta.dirname, '../../../local');
const OLD = { 'settings.json': 'zero', 'projects/a/rules.json': 'zero', old: 'zero' };
const NEW = { 'settings.json': 'two and three', 'projects/a/rules.json': 'two' };

test('a new state has the present format, and nothing is kept of it', async () => {
  const stateDir = join(temporaryFolder(), 'state');
  await openState({ workspaceDir: temporaryFolder(), stateDir });
  expect(formatOf(stateDir)).toBe(FORMAT_STEPS.length);
  expect(existsSync(join(stateDir, 'backups'))).toBe(false);
});

test('a state from before state.json goes through all steps, with a backup from before', async () => {
  const dir = oldState();
  await openFormat(dir, STEPS);
  expect([formatOf(dir), filesOf(dir)]).toEqual([3, NEW]);
  const [name = '', ...others] = readdirSync(join(dir, 'backups'));
  expect(others).toEqual([]);
  expect(await filesIn(join(dir, 'backups', name))).toEqual({ ...OLD, 'auth-secret': 'secret' });
});

test('only the newest backups stay', async () => {
  const dir = oldState();
  for (let format = 1; format <= 5; format++) {
    await openFormat(
      dir,
      Array.from({ length: format }, () => ({
        tables: { conversation: 1, tunnel: 1, account: 1 },
      })),
    );
  }
  const kept = readdirSync(join(dir, 'backups')).map((name) => name.replace(/^.*Z-/, ''));
  expect(kept).toEqual(['format-3.tar.gz', 'format-4.tar.gz']);
});

test('a version that works between two upgrades has its work in a backup, too', async () => {
  const dir = oldState();
  const between = { format: 1, writtenBy: '9.9.9', isUpgrading: true };
  writeFileSync(join(dir, 'state.json'), JSON.stringify(between));
  expect(await openFormat(dir, STEPS.slice(0, 1))).toEqual({ format: 1, writtenBy: '9.9.9' });
  await openFormat(dir, STEPS);
  expect(readdirSync(join(dir, 'backups'))).toEqual([expect.stringMatching(/format-1\.tar\.gz$/)]);
});

test('a newer state is refused with its version, and stays as it is', async () => {
  const dir = oldState();
  const text = JSON.stringify({ format: 4, writtenBy: '9.9.9' });
  writeFileSync(join(dir, 'state.json'), text);
  await expect(openFormat(dir, STEPS)).rejects.toThrow(/written by Drawbridge 9\.9\.9.*install/);
  expect(readFileSync(join(dir, 'state.json'), 'utf8')).toBe(text);
  expect(filesOf(dir)).toEqual(OLD);
});

test('a state that its own version still runs on is refused, and stays as it is', async () => {
  const dir = oldState();
  const { isTaken } = takeLock(join(dir, 'lock'));
  writeFileSync(join(dir, 'instance.json'), '{}');
  await expect(openFormat(dir, STEPS)).rejects.toThrow(
    /process \d+ of an earlier version still runs/,
  );
  expect([isTaken, filesOf(dir)]).toEqual([true, OLD]);
});

test('an upgrade waits for another one, also where a killed server has left its address', async () => {
  const dir = oldState();
  writeFileSync(join(dir, 'instance.json'), '{"url": "http://127.0.0.1:1", "pid": 1}');
  const lock = takeLock(join(dir, 'lock'));
  const opened = openFormat(dir, STEPS);
  await Promise.race([opened, sleep(2 * LOCAL_LIMITS.upgradePollMs)]);
  if (lock.isTaken) lock[Symbol.dispose]();
  expect(await opened).toMatchObject({ format: 3 });
});

test('processes that open an old state at once upgrade it once', async () => {
  const dir = oldState();
  const program = `await (await import('${LOCAL}/state/upgrade.ts')).openFormat(process.argv[1]);`;
  const args = ['--input-type=module', '--eval', program, dir];
  const run = () => promisify(execFile)(process.execPath, args);
  await Promise.all([run(), run()]);
  expect([formatOf(dir), filesOf(dir)]).toEqual([FORMAT_STEPS.length, OLD]);
  expect(readdirSync(join(dir, 'backups'))).toHaveLength(1);
});

test('an upgrade that is killed anywhere is gone on with at the next start', async () => {
  const faults = await atEachChange('dead', async (dir, nth) => {
    await openFormat(dir, STEPS);
    expect([nth, formatOf(dir), filesOf(dir)]).toEqual([nth, 3, NEW]);
    expect([nth, leftOvers(dir)]).toEqual([nth, []]);
  });
  expect(faults).toBeGreaterThan(20);
});

test('a disk that gets full anywhere leaves a state that its version can use, and is reported', async () => {
  const faults = await atEachChange('full', async (dir, nth, failure) => {
    if (formatOf(dir) < 2) expect([nth, filesOf(dir)]).toEqual([nth, OLD]);
    expect(failure).toMatch(/could not be upgraded \(ENOSPC.*make room/);
    await openFormat(dir, STEPS);
    expect([nth, formatOf(dir), filesOf(dir)]).toEqual([nth, 3, NEW]);
  });
  expect(faults).toBeGreaterThan(5);
});

test('FORMAT_STEPS has a step for each migration of the tables', async () => {
  expect(FORMAT_STEPS.at(-1)?.tables).toEqual({
    conversation: await migrationsIn('conversation/store/schema.ts'),
    tunnel: await migrationsIn('tunnel/statements.ts'),
    account: await migrationsIn('account/statements.ts'),
    directory: await migrationsIn('directory/statements.ts'),
  });
});

function oldState(): string {
  const dir = mkdtempSync(join(temporaryFolder(), 'state-'));
  mkdirSync(join(dir, 'projects', 'a'), { recursive: true });
  for (const [path, text] of Object.entries({ ...OLD, 'auth-secret': 'secret' })) {
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

function formatOf(dir: string): number {
  const path = join(dir, 'state.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).format : 0;
}

/** The files that upgrades change. */
function filesOf(dir: string): Record<string, string> {
  const there = Object.keys(OLD).filter((path) => existsSync(join(dir, path)));
  return Object.fromEntries(there.map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
}

function leftOvers(dir: string): string[] {
  const all = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /\.(upgrade|partial)$|upgrade\.json$/.test(name));
}

/** Upgrades old states on disks that fail at the first change, the second, and so on. Returns how many failed. */
async function atEachChange(
  fault: Fault,
  check: (dir: string, nth: number, failure: string) => Promise<void>,
): Promise<number> {
  for (let nth = 1; ; nth++) {
    const dir = oldState();
    let failure = '';
    const failed = await onFaultyDisk(fault, nth, async () => {
      await openFormat(dir, STEPS).catch((error: Error) => {
        failure = error.message;
      });
    });
    if (!failed) return nth - 1;
    await check(dir, nth, failure);
  }
}

async function migrationsIn(path: string): Promise<number> {
  const { MIGRATIONS } = await import(join(import.meta.dirname, '../../../worker', path));
  return MIGRATIONS.length;
}
