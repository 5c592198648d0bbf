import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CHECKPOINT_LIMITS } from '../../../bridge/checkpoints/limits.ts';
import { TREE_LIMITS } from '../../../packages/workspace/tree/limits.ts';
import { Shell } from './shell.ts';
import { UndoneFolder } from './undone-folder.ts';

const LAST = { scope: 'last' } as const;
const REDO = { scope: 'redo' } as const;

describe('an undo', () => {
  test('takes back a change, a new file, a deletion and a rename, and a redo makes them again', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text, list } = disk(folder);
    writeFileSync(at('changed'), Buffer.from([0, 255, 13, 10, 7]));
    writeFileSync(at('deleted'), 'gone\n', { mode: 0o755 });
    writeFileSync(at('old'), 'moved\n');
    const before = list();
    await folder.write('changed', 'two\n');
    await folder.write('new', 'new\n');
    await folder.delete('deleted');
    await folder.rename('old', 'fresh');
    const after = list();
    expect(await folder.undo(LAST)).toEqual({
      changed: 'restore',
      new: 'restore',
      deleted: 'restore',
      old: 'restore',
      fresh: 'restore',
    });
    expect(list()).toEqual(before);
    expect(await folder.undo(LAST)).toEqual({});
    folder.restart();
    await folder.undo(REDO);
    expect(list()).toEqual(after);
    expect(await folder.undo(REDO)).toEqual({});
    await folder.undo(LAST);
    expect(list()).toEqual(before);
    expect(text('old')).toBe('moved\n');
  });

  test('takes back one call, or one response', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    writeFileSync(at('a'), 'one\n');
    await folder.write('a', 'two\n', 'resp_1', 'call_1');
    await folder.write('b', 'b\n', 'resp_1', 'call_2');
    await folder.write('a', 'three\n', 'resp_2', 'call_3');
    expect(await folder.undo({ scope: 'call', id: 'call_2' })).toEqual({ b: 'restore' });
    expect(existsSync(at('b'))).toBe(false);
    expect(await folder.undo({ scope: 'response', id: 'resp_2' })).toEqual({ a: 'restore' });
    expect(text('a')).toBe('two\n');
  });

  test('takes folders back that only its new files needed', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    mkdirSync(at('src/old'), { recursive: true });
    writeFileSync(at('src/old/a'), 'a\n');
    await folder.write('src/new/deep/b', 'b\n');
    await folder.write('src/old/more/c', 'c\n');
    mkdirSync(at('src/old/more/mine'));
    expect(Object.keys(await folder.undo(LAST)).sort()).toEqual([
      'src/new/deep/b',
      'src/old/more/c',
    ]);
    expect(readdirSync(at('src'))).toEqual(['old']);
    expect(readdirSync(at('src/old/more'))).toEqual(['mine']);
    await folder.undo(REDO);
    expect(text('src/new/deep/b')).toBe('b\n');
  });

  test('keeps what the person wrote in other lines', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    writeFileSync(at('a'), '1\n2\n3\n4\n5\r\n6');
    await folder.write('a', '1\nagent\n3\n4\n5\r\n6');
    writeFileSync(at('a'), '1\nagent\n3\n4\n5\r\nperson');
    expect(await folder.undo(LAST)).toEqual({ a: 'merge' });
    expect(text('a')).toBe('1\n2\n3\n4\n5\r\nperson');
    await folder.undo(REDO);
    expect(text('a')).toBe('1\nagent\n3\n4\n5\r\nperson');
  });

  test('leaves a file that the person changed in the same lines, made again or replaced by a link', async () => {
    await using folder = await UndoneFolder.make();
    const { at, list } = disk(folder);
    const names = ['same', 'deleted', 'again', 'mode', 'linked'];
    for (const name of names) writeFileSync(at(name), `${name}\n`);
    for (const name of names) if (name !== 'again') await folder.write(name, 'two\n');
    await folder.delete('again');
    await folder.write('made', 'agent\n');
    writeFileSync(at('same'), 'person\n');
    writeFileSync(at('made'), 'agent\nperson\n');
    writeFileSync(at('again'), 'person\n');
    rmSync(at('deleted'));
    rmSync(at('linked'));
    symlinkSync('same', at('linked'));
    chmodSync(at('mode'), 0o600);
    const before = list();
    expect(await folder.undo(LAST, { isPreview: true })).toEqual({
      same: 'changed',
      made: 'changed',
      again: 'made_again',
      deleted: 'restore',
      linked: 'changed',
      mode: 'restore',
      'again.before-undo': 'restore',
      'linked.before-undo': 'restore',
      'same.before-undo': 'restore',
    });
    expect(list()).toEqual(before);
    await folder.undo(LAST);
    expect(list()).toEqual({
      ...before,
      deleted: { text: 'deleted\n', mode: 0o644 },
      mode: { text: 'mode\n', mode: 0o600 },
      ...Object.fromEntries(
        ['again', 'linked', 'same'].map((name) => {
          return [`${name}.before-undo`, { text: `${name}\n`, mode: 0o644 }];
        }),
      ),
    });
    expect(Object.values(await folder.undo(LAST))).not.toContain('restore');
    await folder.undo(REDO);
    expect(Object.keys(list()).filter((name) => name.includes('before-undo'))).toEqual([]);
  });

  test('takes back a rename of a file that the person changed since, and loses neither version', async () => {
    await using folder = await UndoneFolder.make();
    const { at, list } = disk(folder);
    writeFileSync(at('old'), 'one\n');
    await folder.rename('old', 'new');
    writeFileSync(at('new'), 'one\nperson\n');
    const { new: changed } = list();
    expect(await folder.undo(LAST)).toEqual({ new: 'changed', old: 'restore' });
    expect(list()).toEqual({ old: { text: 'one\n', mode: 0o644 }, new: changed });
  });

  test('refuses a content that is too large, damaged or missing, and the edit itself goes on', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    const large = 'x'.repeat(CHECKPOINT_LIMITS.maxFileBytes + 1);
    writeFileSync(at('large'), large);
    writeFileSync(at('damaged'), 'one\n');
    await folder.write('large', 'small\n');
    await folder.write('damaged', 'two\n');
    const contents = join(folder.stateDir, 'checkpoints', 'contents');
    for (const name of readdirSync(contents)) {
      expect(statSync(join(contents, name)).mode & 0o777).toBe(0o600);
      writeFileSync(join(contents, name), 'damage');
    }
    expect(await folder.undo(LAST)).toEqual({ large: 'not_stored', damaged: 'not_stored' });
    rmSync(join(folder.stateDir, 'checkpoints'), { recursive: true });
    await folder.write('damaged', 'three\n');
    expect(text('damaged')).toBe('three\n');
  });

  test('is refused while a call or another undo runs', async () => {
    await using folder = await UndoneFolder.make();
    const { at } = disk(folder);
    await folder.write('a', 'one\n');
    const busy = { code: 'UNDO_BUSY' };
    await folder.checkpoints.during(folder.root, async () => {
      await expect(folder.undo(LAST)).rejects.toMatchObject(busy);
    });
    const first = folder.undo(LAST);
    await expect(folder.undo(LAST)).rejects.toMatchObject(busy);
    expect(await first).toEqual({ a: 'restore' });
    expect(existsSync(at('a'))).toBe(false);
  });

  test('knows after a crash which of the last changes were made', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    const history = join(folder.stateDir, 'checkpoints', 'history.jsonl');
    for (const isMade of [true, false]) {
      writeFileSync(at('a'), 'one\n');
      await folder.write('a', 'two\n', `resp_${isMade}`);
      const lines = readFileSync(history, 'utf8').trimEnd().split('\n');
      writeFileSync(history, `${lines.slice(0, -1).join('\n')}\n{"type":"ent`);
      if (!isMade) writeFileSync(at('a'), 'one\n');
      folder.restart();
      expect(await folder.undo({ scope: 'response', id: `resp_${isMade}` })).toEqual(
        isMade ? { a: 'restore' } : {},
      );
      expect(text('a')).toBe('one\n');
    }
  });
});

describe('a command', () => {
  test('is undone with all its changes, and redone', async () => {
    await using folder = await UndoneFolder.make();
    const { at, list } = disk(folder);
    for (const name of ['changed', 'moved', 'deleted', 'mode'])
      writeFileSync(at(name), `${name}\n`);
    expect(await folder.command(() => {})).toEqual([]);
    await settled();
    const before = list();
    const lost = await folder.command(() => {
      writeFileSync(at('changed'), Buffer.from([0, 255, 13]));
      renameSync(at('moved'), at('new'));
      rmSync(at('deleted'));
      chmodSync(at('mode'), 0o755);
    });
    expect(lost).toEqual([]);
    const after = list();
    await folder.undo(LAST);
    expect(list()).toEqual(before);
    folder.restart();
    await folder.undo(REDO);
    expect(list()).toEqual(after);
  });

  test('is not blamed for what the person or a file tool changed before it', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    writeFileSync(at('a'), 'one\n');
    await folder.command(() => {});
    await folder.write('b', 'tool\n', 'resp_2');
    writeFileSync(at('a'), 'person\n');
    await folder.command(() => writeFileSync(at('c'), 'command\n'), 'resp_3');
    expect(await folder.undo({ scope: 'response', id: 'resp_3' })).toEqual({ c: 'restore' });
    expect(text('a')).toBe('person\n');
    expect(await folder.undo({ scope: 'response', id: 'resp_2' })).toEqual({ b: 'restore' });
  });

  test('names the changes that cannot be undone, and passes over caches and repositories', async () => {
    await using folder = await UndoneFolder.make();
    const { at } = disk(folder);
    const large = 'x'.repeat(CHECKPOINT_LIMITS.maxFileBytes + 1);
    writeFileSync(at('large'), large);
    writeFileSync(at('.env'), 'SECRET=1\n');
    writeFileSync(at('.cursorignore'), 'closed\n');
    writeFileSync(at('closed'), 'one\n');
    for (const name of ['.git', 'node_modules', 'cache']) mkdirSync(at(name));
    writeFileSync(at('cache/CACHEDIR.TAG'), '');
    await folder.command(() => {});
    await settled();
    const lost = await folder.command(() => {
      writeFileSync(at('large'), `${large}y`);
      writeFileSync(at('.env'), 'SECRET=2\n');
      writeFileSync(at('closed'), 'two\n');
      for (const name of ['.git', 'node_modules', 'cache']) writeFileSync(at(`${name}/new`), 'x');
      symlinkSync('/etc', at('link'));
    });
    expect([...lost].sort()).toEqual(['.env', 'closed', 'large']);
    const contents = join(folder.stateDir, 'checkpoints', 'contents');
    const kept = readdirSync(contents).map((name) => readFileSync(join(contents, name), 'utf8'));
    expect(kept.filter((text) => text.includes('SECRET') || text.startsWith('x'))).toEqual([]);
    expect(await folder.undo(LAST)).toEqual({
      '.env': 'closed',
      closed: 'closed',
      large: 'not_stored',
      link: 'restore',
    });
  });

  test.each([
    ['mv a.txt b.txt', 'only_copy'],
    ['cp a.txt b.txt && rm a.txt', 'only_copy'],
    ['ln a.txt b.txt && rm a.txt', 'only_copy'],
    ['mv a.txt b.txt && mv b.txt c.txt && cp c.txt b.txt && rm c.txt', 'only_copy'],
    ['mkdir d && mv a.txt d/b.txt', 'only_copy'],
    ['mv a.txt old.txt', 'restore'],
  ])('%s, and its old name is taken again: no undo deletes the only copy', async (line, fate) => {
    await using folder = await UndoneFolder.make();
    await using shell = new Shell();
    const { at, text } = disk(folder);
    writeFileSync(at('a.txt'), 'theirs\n');
    writeFileSync(at('old.txt'), 'old\n');
    await folder.command(() => {});
    await folder.command(() => shell.run(line, folder.root));
    writeFileSync(at('a.txt'), 'new\n');
    const done = await folder.undo(LAST);
    expect(done).toMatchObject({ 'a.txt': 'made_again' });
    expect(Object.values(done)).toContain(fate);
    expect(text('a.txt')).toBe('new\n');
    expect(text('old.txt')).toBe('old\n');
    const copies = ['b.txt', 'd/b.txt', 'a.txt.before-undo'].filter((name) => existsSync(at(name)));
    expect(copies.map(text)).toEqual(['theirs\n']);
  });

  test('gives back links, hard links, files marked read-only and files that folders replaced', async () => {
    await using folder = await UndoneFolder.make();
    await using shell = new Shell();
    const { at } = disk(folder);
    await shell.run(
      'mkdir d && echo 1 > d/x && ln -s d to-d && ln -s nowhere gone && echo 2 > h && ln h i && ' +
        'echo 3 > r && chmod 444 r && echo 4 > f',
      folder.root,
    );
    await folder.command(() => {});
    const show = async () => {
      await shell.run("find . -printf '%P %y %l ' -type f -exec cat {} + > ../shown", folder.root);
      return readFileSync(join(folder.base, 'shown'), 'utf8').split('\n').sort();
    };
    const before = await show();
    await folder.command(() =>
      shell.run(
        'rm gone to-d && mv d e && ln -s e d && echo x > h && sed -i s/3/y/ r && rm f && mkdir -p f/g/h',
        folder.root,
      ),
    );
    const after = await show();
    expect(after).not.toEqual(before);
    await folder.undo(LAST);
    expect(await show()).toEqual(before);
    await folder.undo(REDO);
    expect(Object.keys(await folder.undo(LAST)).sort()).toEqual(
      ['d', 'd/x', 'e/x', 'f', 'gone', 'h', 'i', 'r', 'to-d'].sort(),
    );
    expect(await show()).toEqual(before);
    expect(existsSync(at('e'))).toBe(false);
  });

  test('brings back what it deleted of the person, although an earlier change of the file stays', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    await folder.command(() => writeFileSync(at('a'), 'agent\n'));
    writeFileSync(at('a'), 'agent\nperson\n');
    await folder.command(() => rmSync(at('a')));
    expect(await folder.undo(LAST)).toEqual({ a: 'restore' });
    expect(text('a')).toBe('agent\nperson\n');
  });

  test('that moves a closed file leaves it where it is: undo has no content of it', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    writeFileSync(at('.env'), 'SECRET=1\n');
    await folder.command(() => {});
    const lost = await folder.command(() => renameSync(at('.env'), at('b')));
    expect([...lost].sort()).toEqual(['.env', 'b']);
    expect(await folder.undo(LAST)).toEqual({ '.env': 'closed', b: 'not_stored' });
    expect(text('b')).toBe('SECRET=1\n');
  });

  test.each([
    ['mv a b', { a: 'failed', b: 'only_copy' }, 'b'],
    [
      'mv a b && mkdir a && mv b a/b',
      { a: 'failed', 'a/b': 'restore', 'a.before-undo': 'restore' },
      'a.before-undo',
    ],
  ])(
    '%s is undone without loss where a file cannot be restored after all',
    async (line, done, name) => {
      await using folder = await UndoneFolder.make();
      await using shell = new Shell();
      const { at, text } = disk(folder);
      writeFileSync(at('a'), 'theirs\n');
      await folder.command(() => {});
      await folder.command(() => shell.run(line, folder.root));
      const { checkpoints } = folder;
      const keep = checkpoints.keep.bind(checkpoints);
      checkpoints.keep = (changer, changes, more) =>
        changes.some(({ path }) => path === 'a') ? undefined : keep(changer, changes, more);
      expect(await folder.undo(LAST)).toEqual(done);
      expect(text(name)).toBe('theirs\n');
    },
  );

  test('that moves a file out of node_modules leaves it where it is', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    mkdirSync(at('node_modules'));
    writeFileSync(at('node_modules/a'), 'theirs\n');
    writeFileSync(at('c'), 'c\n');
    await settled();
    await folder.command(() => {});
    const lost = await folder.command(() => {
      renameSync(at('node_modules/a'), at('b'));
      linkSync(at('c'), at('d'));
    });
    expect(lost).toEqual(['b']);
    expect(await folder.undo(LAST)).toEqual({ b: 'foreign', d: 'restore' });
    expect(text('b')).toBe('theirs\n');
  });

  test('that copies a file has the only copy once the person deletes the first', async () => {
    await using folder = await UndoneFolder.make();
    const { at, text } = disk(folder);
    writeFileSync(at('a'), 'theirs\n');
    await folder.command(() => {});
    await folder.command(() => copyFileSync(at('a'), at('b')));
    rmSync(at('a'));
    expect(await folder.undo(LAST)).toEqual({ b: 'only_copy' });
    expect(text('b')).toBe('theirs\n');
  });
});

/** As long as a file must be at rest until its times show any later change. */
async function settled(): Promise<void> {
  await sleep(3 * TREE_LIMITS.contentSettledMs);
}

function disk({ root }: UndoneFolder) {
  const at = (name: string) => join(root, name);
  const text = (name: string) => readFileSync(at(name), 'latin1');
  const list = () =>
    Object.fromEntries(
      readdirSync(root).map((name) => [
        name,
        { text: text(name), mode: statSync(at(name)).mode & 0o777 },
      ]),
    );
  return { at, text, list };
}
