import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { OwnCompanionOptions } from '../../companion/index.ts';
import { guestContext } from '../../guests/hosting.ts';
import type { Candidate, Family } from '../../ide/discovery/candidate.ts';
import { discover } from '../../ide/discovery/discover.ts';
import { identityOf } from '../../ide/link/confirmed.ts';
import type { EditorView } from '../../ide/link/link.ts';
import { startCompanion } from '../companion/companions.ts';
import { editQuestion, linkTo, logLines, until } from '../ide/link/linked.ts';

beforeEach(() => void logLines());

/** An editor whose plugin is built on our library, found by its files, and a link that knows it. */
async function start(options: Pick<OwnCompanionOptions, 'diagnose'> = {}) {
  const ide = { name: 'vim', displayName: 'Vim' };
  const started = await startCompanion({ ide, ...options });
  const { discovery, root, shown } = started;
  const { ranked } = await discover(
    {
      workspace: root,
      environment: {},
      home: dirname(discovery.qwenFolder),
      temporaryFolders: [discovery.temporaryFolder],
      platform: process.platform,
      pid: process.pid,
      userId: process.getuid?.(),
      isInContainer: false,
    },
    new AbortController().signal,
  );
  const views: (EditorView | undefined)[] = [];
  const onView = (view: EditorView | undefined) => views.push(view);
  const linked = linkTo([...ranked], { isConfirmed: false, onView, diagnoseMs: 30_000 });
  const confirm = (family: Family) => {
    const found = ranked.find((candidate) => candidate.family === family);
    linked.confirmed.add(identityOf(found as Candidate) ?? '');
  };
  const withdrawing = new AbortController();
  onTestFinished(() => withdrawing.abort());
  const ask = (name: string, text: string) =>
    linked.link.asker.ask(editQuestion(join(root, name), text), withdrawing.signal);
  return { ...started, ...linked, confirm, ask, withdrawing, shown, views };
}

test('reports what its editor shows', async () => {
  const { companion, link, distrust, root } = await start();
  const path = join(root, 'a.ts');
  writeFileSync(path, '');
  companion.contextChanged({
    openFiles: [{ path, timestamp: 1, isActive: true }],
    isTrusted: false,
  });
  await until(() => link.view);
  expect(link.view).toMatchObject({ name: 'Vim', openFiles: [{ path, isActive: true }] });
  await until(() => distrust.isKept);
});

test('passes on to guests what it shows, once its owner has confirmed it, and that it has gone', async () => {
  const { companion, confirm, views, root, link } = await start();
  const path = join(root, 'a.ts');
  const openFiles = [{ path, timestamp: 1, isActive: true, cursor: { line: 1, character: 1 } }];
  companion.contextChanged({ openFiles });
  await until(() => link.view);
  expect(views).toEqual([]);
  confirm('gemini');
  confirm('qwen');
  companion.contextChanged({ openFiles: [{ path, timestamp: 2 }, ...openFiles] });
  await until(() => views.length > 0);
  expect(guestContext(views[0])).toEqual({
    openFiles: [
      { path, timestamp: 2 },
      { path, timestamp: 1 },
    ],
  });
  await companion.close();
  await until(() => views.at(-1) === undefined);
  expect(guestContext(views.at(-1))).toEqual({ openFiles: [] });
});

test('reports what its editor finds wrong, to the bridge of its owner', async () => {
  const found = { line: 3, column: 7, message: 'bad', source: 'lint' };
  const { companion, confirm, link, root } = await start({
    diagnose: async () => [
      { ...found, severity: 'warning' },
      { ...found, severity: 'error' },
    ],
  });
  companion.contextChanged({ openFiles: [] });
  await until(() => link.view);
  const path = join(root, 'a b.ts');
  const diagnose = () => link.diagnose([path], new AbortController().signal);
  expect(await diagnose()).toBeUndefined();
  confirm('gemini');
  confirm('qwen');
  expect(await diagnose()).toEqual([
    { path, ...found, severity: 'warning' },
    { path, ...found, severity: 'error' },
  ]);
});

test('shows an edit, and its answer counts with the changes of the person', async () => {
  const { confirm, ask, shown } = await start();
  confirm('gemini');
  const accepted = ask('a.ts', 'two\n');
  await until(() => shown.length === 1);
  expect(shown[0]).toMatchObject({ newContent: 'two\n', guest: { program: 'drawbridge 0.1.0' } });
  shown[0]?.answer({ decision: 'accepted', content: '' });
  expect(await accepted).toEqual({ decision: 'once', by: 'editor', content: '' });
  const rejected = ask('a.ts', 'two\n');
  await until(() => shown.length === 2);
  shown[1]?.answer({ decision: 'rejected' });
  expect(await rejected).toEqual({ decision: 'reject', by: 'editor' });
});

test('closes an edit that was answered elsewhere', async () => {
  const { confirm, ask, shown, withdrawing } = await start();
  confirm('gemini');
  const answer = ask('a.ts', 'two\n');
  await until(() => shown.length === 1);
  withdrawing.abort();
  expect(await answer).toBeUndefined();
  await until(() => shown[0]?.signal.aborted);
});

test.each<Family>(['gemini', 'qwen'])(
  'is known by its file of %s, where the owner has confirmed that one',
  async (family) => {
    const { confirm, ask, shown, candidates, guests } = await start();
    expect(new Set(candidates.map(({ port }) => port)).size).toBe(1);
    await until(() => guests.length > 0);
    confirm(family);
    const answer = ask('a.ts', 'two\n');
    await until(() => shown.length === 1);
    expect(shown[0]?.guest.family).toBe(family);
    shown[0]?.answer({ decision: 'accepted', content: 'two\n' });
    expect(await answer).toEqual({ decision: 'once', by: 'editor' });
  },
);
