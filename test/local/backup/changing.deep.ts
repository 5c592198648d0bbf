import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backUp } from '../../../local/backup/backup.ts';
import { restoreBackup } from '../../../local/backup/restore.ts';
import { openState } from '../../../local/state/state.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Backs up what `lay` makes in the quarantine, which `change` changes between the two looks at it. */
async function backUpWhile(lay: (kept: string) => void, change: (kept: string) => void) {
  const dir = join(temporaryFolder(), 'state');
  await openState({ workspaceDir: temporaryFolder(), stateDir: dir });
  const kept = join(dir, 'quarantine');
  mkdirSync(kept);
  lay(kept);
  const file = join(temporaryFolder(), 'backup.tar');
  await backUp(dir, file, async () => {
    change(kept);
    return { [Symbol.dispose]: () => {} };
  });
  const restored = join(temporaryFolder(), 'state');
  await restoreBackup(file, restored, new Date('2040-01-01T00:00:00Z'));
  return join(restored, 'quarantine');
}

test('a link that becomes a file or a folder meanwhile leads nothing out of the backup', async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'mine'), 'mine');
  const lay = (kept: string) => {
    symlinkSync(join(outside, 'mine'), join(kept, 'file'));
    symlinkSync(outside, join(kept, 'folder'));
  };
  const restored = await backUpWhile(lay, (kept) => {
    rmSync(join(kept, 'file'));
    rmSync(join(kept, 'folder'));
    writeFileSync(join(kept, 'file'), 'hostile');
    mkdirSync(join(kept, 'folder'));
    writeFileSync(join(kept, 'folder/mine'), 'hostile');
  });
  expect(readFileSync(join(outside, 'mine'), 'utf8')).toBe('mine');
  expect(readFileSync(join(restored, 'file'), 'utf8')).toBe('hostile');
  expect(readFileSync(join(restored, 'folder/mine'), 'utf8')).toBe('hostile');
});

test('a file or a folder that becomes a link meanwhile is one in the backup, and removes nothing elsewhere', async () => {
  const outside = temporaryFolder();
  writeFileSync(join(outside, 'mine'), 'mine');
  const lay = (kept: string) => {
    writeFileSync(join(kept, 'file'), 'old');
    for (const name of ['folder', 'gone']) {
      mkdirSync(join(kept, name));
      writeFileSync(join(kept, name, 'mine'), 'old');
    }
  };
  const restored = await backUpWhile(lay, (kept) => {
    for (const name of ['file', 'folder', 'gone']) rmSync(join(kept, name), { recursive: true });
    symlinkSync(outside, join(kept, 'file'));
    symlinkSync(outside, join(kept, 'folder'));
  });
  expect(readFileSync(join(outside, 'mine'), 'utf8')).toBe('mine');
  expect(['file', 'folder'].map((name) => readlinkSync(join(restored, name)))).toEqual([
    outside,
    outside,
  ]);
  expect(() => readFileSync(join(restored, 'gone/mine'))).toThrow('ENOENT');
});

test('a folder and a file that swap places with links all the while bring nothing from outside', async () => {
  const outside = temporaryFolder();
  const dir = join(temporaryFolder(), 'state');
  await openState({ workspaceDir: temporaryFolder(), stateDir: dir });
  const kept = join(dir, 'quarantine');
  mkdirSync(kept);
  for (const folder of [outside, join(kept, 'folder')]) {
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < 50; file++) writeFileSync(join(folder, `${file}`), basename(folder));
  }
  writeFileSync(join(kept, 'file'), 'file');
  symlinkSync(outside, join(kept, 'folder-link'));
  symlinkSync(join(outside, '0'), join(kept, 'file-link'));
  const swapper = spawn(process.execPath, ['-e', SWAP, kept], { stdio: 'ignore' });
  onTestFinished(() => void swapper.kill('SIGKILL'));
  for (let round = 0; round < 20; round++) {
    const file = join(temporaryFolder(), 'backup.tar');
    await backUp(dir, file);
    const bytes = readFileSync(file, 'latin1');
    expect(bytes.split(`\0${basename(outside)}\0`)).toHaveLength(1);
  }
});

/** What is at each name is a link and is none, in turns. */
const SWAP = `
  const { renameSync } = require('node:fs');
  process.chdir(process.argv[1]);
  for (;;) for (const name of ['folder', 'file']) {
    renameSync(name, 'away');
    renameSync(name + '-link', name);
    renameSync(name, name + '-link');
    renameSync('away', name);
  }`;

test('what begins to write while the state is copied is paused and copied, too', async () => {
  const dir = join(temporaryFolder(), 'state');
  await openState({ workspaceDir: temporaryFolder(), stateDir: dir });
  const writer = join(temporaryFolder(), 'writer.mjs');
  const lockPath = join(dir, 'journal.jsonl.lock');
  const program = `const { takeLock } = await import(${JSON.stringify(LOCK)});
    takeLock(${JSON.stringify(lockPath)});
    console.log('locked');
    setInterval(() => {}, 1000);`;
  writeFileSync(writer, program);
  const stopped: (readonly number[])[] = [];
  let pid: number | undefined;
  const file = join(temporaryFolder(), 'backup.tar');
  await backUp(dir, file, async (pids) => {
    stopped.push(pids);
    if (stopped.length === 1) pid = await startWriter(writer);
    else writeFileSync(join(dir, 'journal.jsonl'), 'written');
    return { [Symbol.dispose]: () => {} };
  });
  expect(stopped).toEqual([[], [pid]]);
  const restored = join(temporaryFolder(), 'state');
  await restoreBackup(file, restored, new Date('2040-01-01T00:00:00Z'));
  expect(readFileSync(join(restored, 'journal.jsonl'), 'utf8')).toBe('written');
});

test('a backup beside another one is refused: its end would let the server go on', async () => {
  const dir = join(temporaryFolder(), 'state');
  await openState({ workspaceDir: temporaryFolder(), stateDir: dir });
  const folder = temporaryFolder();
  const second = Promise.withResolvers<unknown>();
  await backUp(dir, join(folder, 'one.tar'), async () => {
    const error = await backUp(dir, join(folder, 'two.tar')).catch((thrown: unknown) => thrown);
    second.resolve(error);
    return { [Symbol.dispose]: () => {} };
  });
  expect(await second.promise).toMatchObject({
    kind: 'refused',
    message: expect.stringMatching(`^Process ${process.pid} makes a backup of ${dir} now`),
  });
  await backUp(dir, join(folder, 'three.tar'));
});

const LOCK = join(import.meta.dirname, '../../../machine/lock.ts');

async function startWriter(program: string): Promise<number | undefined> {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child.pid;
}
