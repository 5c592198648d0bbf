import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { type ArchiveEntry, writeArchive } from '../../../local/archive/archive.ts';
import { backUp } from '../../../local/backup/backup.ts';
import { restoreBackup } from '../../../local/backup/restore.ts';
import { PRESENT_FORMAT } from '../../../local/state/format.ts';
import { newRestored } from '../../../local/state/restored.ts';
import { openState } from '../../../local/state/state.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LONG = `${'a-long-name-'.repeat(20)}é😀`;
const NOW = new Date('2040-01-01T00:00:00Z');

describe.each(['backup.tar', 'backup.tar.gz'])('%s', (name) => {
  test('restores everything that a state is made of, for its owner only', async () => {
    const { dir, file } = await backedUp(name);
    const restored = join(temporaryFolder(), 'deep', 'state');
    await restoreBackup(file, restored, NOW);
    expect(filesIn(restored)).toEqual({
      ...filesIn(dir),
      'state.json': JSON.stringify({ ...PRESENT_FORMAT, ...newRestored(undefined, NOW) }),
      'journal.jsonl.restored': NOW.toISOString(),
      'projects/p/journal.jsonl.restored': NOW.toISOString(),
    });
    expect(readlinkSync(join(restored, 'quarantine/kept/link'))).toBe('/nowhere/../else');
    expect(statSync(join(restored, 'quarantine/kept/run.sh')).mode & 0o777).toBe(0o755);
    expect([file, restored].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700]);
    await openState({ workspaceDir: temporaryFolder(), stateDir: restored });
  });

  test('is an archive that tar reads', async () => {
    const { dir, file } = await backedUp(name);
    const out = temporaryFolder();
    execFileSync('tar', ['-xf', file, '-C', out]);
    expect(filesIn(join(out, 'state'))).toEqual(filesIn(dir));
  });

  test('is refused when it is cut short anywhere, and leaves nothing', async () => {
    const { file } = await backedUp(name);
    const { size } = statSync(file);
    for (let cut = 1; cut < 24; cut++) {
      truncateSync(file, Math.floor((size * (24 - cut)) / 24));
      await expectRefusal(file);
    }
    writeFileSync(file, '');
    await expectRefusal(file);
  });

  test('is refused when a byte of it was changed', async () => {
    const { file } = await backedUp(name);
    const whole = readFileSync(file);
    for (let part = 0; part < 24; part++) {
      const changed = Buffer.from(whole);
      // The blocks of a tar file are filled up with zeros, which say nothing.
      const start = Math.floor((whole.length * part) / 24);
      const at = whole.findIndex((byte, place) => place >= start && byte !== 0);
      if (at === -1) continue;
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      if (saysTheSame(changed, whole)) continue;
      writeFileSync(file, changed);
      await expectRefusal(file);
    }
  });
});

test('an archive whose paths lead outside is refused', async () => {
  const { file } = await backedUp('backup.tar');
  const text = readFileSync(file).toString('latin1');
  writeFileSync(file, text.replaceAll('state/bridge.json', 'state/../ridge.js'), 'latin1');
  await expectRefusal(file);
});

const MAKERS = {
  'a file': (path: string): ArchiveEntry => ({ path, type: 'file', mode: 0o600, bytes: 4 }),
  'a folder': (path: string): ArchiveEntry => ({ path, type: 'folder', mode: 0o700, bytes: 0 }),
  'a link': (path: string): ArchiveEntry => ({
    path,
    type: 'link',
    mode: 0o777,
    bytes: 0,
    target: '..',
  }),
} as const;
const LATER = [
  'in',
  'in/deeper',
  'in/../made',
  'in//made',
  './in/made',
  'in/',
  '/made',
  '..',
  'x/made',
];

describe.each(['..', 'LINKED', '.', 'folder', '/'])('an archive with a link to %s', (target) => {
  test.each(Object.entries(MAKERS))(
    'is refused, whatever way %s comes below it',
    async (_, make) => {
      const outside = temporaryFolder();
      const link = { ...MAKERS['a link']('in'), target: target.replace('LINKED', outside) };
      const folder = MAKERS['a folder']('folder');
      for (const path of LATER) {
        for (const entries of [
          [folder, link, make(path)],
          [folder, make(path), link],
        ]) {
          await expectRefusal(await craft(entries));
        }
      }
      await expectRefusal(
        await craft([folder, link, { ...link, path: 'folder/in' }, make('folder/in/made')]),
      );
      expect(readdirSync(outside)).toEqual([]);
    },
  );
});

test('a crafted archive whose entries lie in its folders is restored', async () => {
  const entries = [
    MAKERS['a folder']('in'),
    MAKERS['a link']('in/link'),
    MAKERS['a file']('in/file'),
  ];
  const dir = join(temporaryFolder(), 'state');
  await restoreBackup(await craft(entries), dir, NOW);
  expect([readlinkSync(join(dir, 'in/link')), statSync(join(dir, 'in/file')).size]).toEqual([
    '..',
    4,
  ]);
});

/** An archive with these entries and the digest that belongs to them. */
async function craft(entries: readonly ArchiveEntry[]): Promise<string> {
  const archive = pack();
  const digest = createHash('sha256');
  const head = JSON.stringify({ archive: 1, ...PRESENT_FORMAT, createdMs: 0 });
  digest.update(head);
  archive.entry({ name: 'backup.json' }, head);
  for (const { path, type, mode, bytes, target } of entries) {
    const kind = ({ file: 'file', folder: 'directory', link: 'symlink' } as const)[type];
    const link = target !== undefined && { linkname: target };
    archive.entry({ name: `state/${path}`, type: kind, mode, ...link }, 'x'.repeat(bytes));
    digest.update(JSON.stringify([path, type, mode, bytes, target ?? '']));
    digest.update('x'.repeat(bytes));
  }
  archive.entry({ name: 'backup.sha256' }, digest.digest('hex'));
  archive.finalize();
  const file = join(temporaryFolder(), 'crafted.tar');
  writeFileSync(file, await buffer(archive));
  return file;
}

test('nothing is written where links of an archive lead', async () => {
  const { dir } = await backedUp('backup.tar');
  const [elsewhere, folder] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(elsewhere, 'project'));
  symlinkSync(join(elsewhere, 'project'), join(dir, 'projects', 'linked'));
  symlinkSync('/nowhere', join(dir, 'projects', 'dangling'));
  await backUp(dir, join(folder, 'one.tar'));
  const restored = (name: string) =>
    restoreBackup(join(folder, `${name}.tar`), join(folder, name), NOW);
  await expect(restored('one')).rejects.toThrow('a link that leads out of the state folder');
  rmSync(join(dir, 'projects'), { recursive: true });
  symlinkSync(elsewhere, join(dir, 'projects'));
  await backUp(dir, join(folder, 'two.tar'));
  await expect(restored('two')).rejects.toThrow('a link that leads out of the state folder');
  expect(readdirSync(folder).sort()).toEqual(['one.tar', 'two.tar']);
  expect(readdirSync(elsewhere, { recursive: true })).toEqual(['project']);
});

test('no file of an archive becomes a program that runs as its owner', async () => {
  const { file } = await backedUp('backup.tar');
  const archive = readFileSync(file);
  const at = archive.indexOf('state/quarantine/kept/run.sh');
  const header = archive.subarray(at, at + 512);
  header.write('0004755', 100, 'latin1');
  header.write('        ', 148, 'latin1');
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  writeFileSync(file, archive);
  const dir = join(temporaryFolder(), 'state');
  await restoreBackup(file, dir, NOW);
  expect(statSync(join(dir, 'quarantine/kept/run.sh')).mode & 0o7777).toBe(0o755);
});

test('what a command has closed to its owner keeps no state from being saved', async () => {
  const { dir } = await backedUp('backup.tar');
  const kept = join(dir, 'quarantine/kept');
  mkdirSync(join(kept, 'closed'));
  writeFileSync(join(kept, 'closed', 'inner'), '');
  chmodSync(join(kept, 'closed'), 0);
  chmodSync(join(kept, 'run.sh'), 0);
  const out = temporaryFolder();
  const backup = JSON.stringify(join(import.meta.dirname, '../../../local/backup/backup.ts'));
  const file = JSON.stringify(join(out, 'backup.tar'));
  const program = `const { backUp } = await import(${backup});
    await backUp(${JSON.stringify(dir)}, ${file});`;
  const isRoot = process.getuid?.() === 0;
  if (isRoot) execFileSync('chown', ['-R', '1234:1234', dir, out]);
  if (isRoot) execFileSync('chmod', ['755', dirname(dir), out]);
  execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
    ...(isRoot && { uid: 1234, gid: 1234 }),
  });
  const list = execFileSync('tar', ['-tf', join(out, 'backup.tar')], { encoding: 'utf8' });
  expect(list).toContain('state/quarantine/kept/link');
  expect(list).not.toMatch(/run\.sh|closed/);
});

test('names and links that are not UTF-8 are listed, and all else is kept', async () => {
  const { dir } = await backedUp('backup.tar');
  const kept = join(dir, 'quarantine/kept');
  const odd = Buffer.concat([Buffer.from(`${kept}/odd-`), Buffer.from([0xe9])]);
  writeFileSync(odd, 'content');
  symlinkSync(Buffer.from([0xe9]), join(kept, 'odd-link'));
  const folder = temporaryFolder();
  const { lost } = await backUp(dir, join(folder, 'odd.tar'));
  expect(lost.toSorted()).toEqual(['quarantine/kept/odd-link', 'quarantine/kept/odd-\uFFFD']);
  await restoreBackup(join(folder, 'odd.tar'), join(folder, 'state'), NOW);
  const names = readdirSync(join(folder, 'state/quarantine/kept'));
  expect(names.sort()).toEqual(readdirSync(kept).filter((name) => !name.startsWith('odd-')));
});

test('what is no backup is refused in one sentence', async () => {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries({
    text: 'Hello.\n'.repeat(500),
    zipped: gzipSync('Hello.'.repeat(500)),
    zeros: Buffer.alloc(4096),
  })) {
    writeFileSync(join(folder, name), content);
    await expectRefusal(join(folder, name), /no whole backup/);
  }
  await expectRefusal(folder, /is not a file/);
  await expectRefusal(join(folder, 'nothing'), /cannot be read/);
});

test('a backup of a newer format is refused with its version', async () => {
  const { dir } = await backedUp('backup.tar');
  const file = join(temporaryFolder(), 'newer.tar');
  const head = { archive: 1, format: 99, writtenBy: '9.9.9', createdMs: 1 } as const;
  await writeArchive(file, dir, head);
  await expectRefusal(file, /format 99, written by Drawbridge 9\.9\.9/);
});

test('a place where no folder can be made is refused, without a wait', async () => {
  const { file } = await backedUp('backup.tar');
  await expect(restoreBackup(file, '/proc/nowhere/deep/state', NOW)).rejects.toThrow(/ENOENT/);
});

test('a folder in use is left as it is', async () => {
  const { dir, file } = await backedUp('backup.tar');
  const before = filesIn(dir);
  await expect(restoreBackup(file, dir, NOW)).rejects.toThrow(/is not empty/);
  expect(filesIn(dir)).toEqual(before);
});

test('a restore with a clock of years ago is refused, and makes nothing', async () => {
  const { file } = await backedUp('backup.tar');
  const parent = temporaryFolder();
  const restore = restoreBackup(file, join(parent, 'state'), new Date('1970-01-01T00:01:00Z'));
  await expect(restore).rejects.toThrow(/clock shows 1970-01-01T00:01.*set it right/);
  expect(readdirSync(parent)).toEqual([]);
});

/** A state with a file of each kind, and its backup. */
async function backedUp(name: string): Promise<{ dir: string; file: string }> {
  const location = { workspaceDir: temporaryFolder(), stateDir: join(temporaryFolder(), 'state') };
  const { dir } = await openState(location);
  for (const folder of ['storage/objects', 'projects/p', 'quarantine/kept/build']) {
    mkdirSync(join(dir, folder), { recursive: true });
  }
  for (const [path, text] of Object.entries({
    'journal.jsonl': '{"type":"forgotten"}\n',
    'projects/p/journal.jsonl': '',
    'storage/objects/1.sqlite': 'x'.repeat(70_000),
    'storage/objects/1.sqlite-wal': '',
    'quarantine/kept/run.sh': 'true\n',
    'quarantine/kept/build/logs.tmp': 'kept',
    [`quarantine/kept/${LONG}`]: 'long',
  })) {
    writeFileSync(join(dir, path), text);
  }
  execFileSync('chmod', ['755', join(dir, 'quarantine/kept/run.sh')]);
  symlinkSync('/nowhere/../else', join(dir, 'quarantine/kept/link'));
  for (const leftOut of ['storage/objects/1.sqlite-shm', 'logs/workerd.log', 'lock', 'a.tmp']) {
    appendFileSync(join(dir, leftOut), '');
  }
  const file = join(temporaryFolder(), name);
  await backUp(dir, file);
  return { dir, file };
}

/** Zipped bytes can be written in several ways. */
function saysTheSame(a: Buffer, b: Buffer): boolean {
  try {
    return gunzipSync(a).equals(gunzipSync(b));
  } catch {
    return false;
  }
}

/** Nothing stays of a restore that is refused. */
async function expectRefusal(file: string, reason: RegExp | string = /./): Promise<void> {
  const parent = temporaryFolder();
  await expect(restoreBackup(file, join(parent, 'state'), NOW)).rejects.toMatchObject({
    name: 'LocalError',
    message: expect.stringMatching(reason),
  });
  expect(readdirSync(parent)).toEqual([]);
}

/** The files of a state that a backup takes. */
function filesIn(dir: string): Record<string, string> {
  const all = readdirSync(dir, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1));
  const taken = paths.filter((path) => !/^(build|logs|backups|lock|a\.tmp)|-shm$/.test(path));
  return Object.fromEntries(taken.map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
}
