/** A command must not hide what it made from the guard, nor make the guard fail for good. */
import { describe, expect, test } from 'vitest';
import { NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { guardedWorkspace } from './guarded-workspace.ts';

const HOSTILE =
  'mkdir -p packages/x && git init -q packages/x && git -C packages/x config core.fsmonitor ./run';

describe.skipIf(NO_BUBBLEWRAP)(`a command cannot blind the guard ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each([
    [
      'a repository behind a path longer than 4,096 bytes, in a folder that is not looked through',
      '(mkdir .idea && cd .idea && n=$(printf "%0200d" 0) && for i in $(seq 25); do mkdir $n && cd $n || exit; done; mkdir .git)',
    ],
    ['a pipe for a repository in such a folder', 'mkdir .idea; mkfifo .idea/.git'],
    ['a locked folder in it', 'mkdir -p .idea/a/.git; chmod 000 .idea/a'],
  ])('by %s', async (_, obstacle) => {
    const workspace = await guardedWorkspace();
    await workspace.run(`${HOSTILE}; ${obstacle}`);
    const { output } = await workspace.run(
      'git -C packages/x config --local core.fsmonitor; echo runs',
    );
    expect(output).toBe('runs\n');
  });
});

test.skipIf(NO_BUBBLEWRAP)('what a look has missed is not taken for the person’s', async () => {
  let isBlind = false;
  const workspace = await guardedWorkspace({
    listing: (list) => async () => {
      if (isBlind) throw new Error('blind');
      return await list();
    },
  });
  await workspace.run('true');
  const made = workspace.run(`${HOSTILE}; until [ -e blind ]; do sleep 0.1; done`);
  await expect
    .poll(() => workspace.place.text('workspace/packages/x/.git/config'))
    .toContain('run');
  isBlind = true;
  await workspace.place.put('workspace/blind', '');
  expect((await made).attention).toMatchObject([{ failure: expect.stringContaining('its log') }]);
  expect((await workspace.run('true')).attention).toContainEqual(
    expect.objectContaining({ name: 'The workspace' }),
  );
  isBlind = false;
  expect((await workspace.run('true')).attention).toContainEqual(
    expect.objectContaining({ name: 'packages/x/.git', quarantined: true }),
  );
  expect(await workspace.place.text('workspace/packages/x/.git/config')).not.toContain('run');
});
