import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keptThings, restoreRecord } from '../../quarantine/restoring.ts';
import { listRecords } from '../../quarantine/store.ts';
import { NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { guardedWorkspace } from './guarded-workspace.ts';

const ATTACK =
  'git init -q new; git -C new config core.fsmonitor x; echo touch > new/.git/hooks/pre-commit; chmod +x new/.git/hooks/pre-commit';

async function quarantinedPlace(stateDir?: string) {
  const guarded = await guardedWorkspace({ withRepository: false, ...(stateDir && { stateDir }) });
  const state = stateDir ?? guarded.place.path('instances/state');
  const only = () => {
    const [record] = listRecords(state).records;
    if (!record) throw new Error('nothing is in quarantine');
    return record;
  };
  return {
    ...guarded,
    state,
    only,
    text: (name: string) => guarded.place.text(`workspace/${name}`),
  };
}

describe.skipIf(NO_BUBBLEWRAP)(`what is in quarantine ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each([['on the same disk'], ['on another disk']])(
    'comes back as it was, and is the person’s then, %s',
    async (disk) => {
      let stateDir: string | undefined;
      if (disk === 'on another disk') {
        stateDir = await realpath(await mkdtemp('/dev/shm/drawbridge-state-'));
        onTestFinished(() => rm(String(stateDir), { recursive: true }));
      }
      const { run, only, state, text, git } = await quarantinedPlace(stateDir);
      await run(
        `${ATTACK}; mkdir -p .drawbridge/a; echo text > .drawbridge/a/b; ln -s a .drawbridge/c`,
      );
      expect((await keptThings(only())).flatMap(({ what }) => what)).toEqual([
        '.drawbridge, all of it',
        'core.fsmonitor = x',
        'hooks/pre-commit',
      ]);
      const results = await restoreRecord(state, only());
      expect(results.map(({ state: end }) => end)).toEqual(['restored', 'restored', 'restored']);
      expect(listRecords(state)).toEqual({ records: [], unreadable: [] });
      expect(await text('.drawbridge/c/b')).toBe('text\n');
      expect(await git('new', 'config', 'core.fsmonitor')).toBe('x\n');
      expect((await run('true')).attention).toEqual([]);
      expect(await text('new/.git/hooks/pre-commit')).toBe('touch\n');
    },
  );

  test('stays where something else is in its place now', async () => {
    const { run, only, state, text, git, root } = await quarantinedPlace();
    await run(ATTACK);
    await git('new', 'config', 'user.name', 'Me');
    await writeFile(`${root}/new/.git/hooks/pre-commit`, 'mine');
    const reason = 'something else is in its place';
    expect(await restoreRecord(state, only())).toEqual([
      { state: 'stays', name: 'new/.git/config', reason },
      { state: 'stays', name: 'new/.git/hooks/pre-commit', reason },
    ]);
    expect(await text('new/.git/hooks/pre-commit')).toBe('mine');
    await rm(`${root}/new/.git/hooks/pre-commit`);
    expect(await restoreRecord(state, only())).toMatchObject([
      { state: 'stays' },
      { state: 'restored' },
    ]);
    expect(only().items).toHaveLength(2);
    await rm(`${root}/new`, { recursive: true });
    expect(await restoreRecord(state, only())).toMatchObject([
      { state: 'stays', reason: 'its folder is not there any more' },
    ]);
  });

  test('shows what a quarantined repository would start', async () => {
    const { run, only } = await quarantinedPlace();
    await run('sleep 60', { is_background: true });
    await run('git init -q new');
    await writeFile(`${only().folder}/things/0/hooks/pre-push`, 'changed since');
    expect(await keptThings(only())).toMatchObject([
      { what: ['new/.git, all of it', 'hooks/pre-push'] },
    ]);
  });
});
