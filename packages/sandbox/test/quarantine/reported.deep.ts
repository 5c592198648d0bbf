import { mkdtemp, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { aboutCall } from '../../../../machine/log.ts';
import { QUARANTINE_LIMITS } from '../../quarantine/limits.ts';
import { NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { isAnyoneRunning } from '../terminal/plain-launch.ts';
import { guardedWorkspace } from './guarded-workspace.ts';

const CONFIGURES = ['git, an editor, an agent or a shell may start programs by it'];

describe.skipIf(NO_BUBBLEWRAP)(`what a command leaves behind ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each([
    ['.idea', 'mkdir .idea; echo > .idea/workspace.xml'],
    ['sub/.vscode', 'mkdir -p sub/.vscode; echo > sub/.vscode/tasks.json'],
    ['.envrc', 'echo touch ran > .envrc'],
    ['.devcontainer', 'mkdir .devcontainer; echo "{}" > .devcontainer/devcontainer.json'],
    ['a.code-workspace', 'echo "{}" > a.code-workspace'],
    ['.husky', 'mkdir .husky; echo > .husky/pre-commit'],
    ['.gitmodules', 'echo > .gitmodules'],
    ['\\u{1b}[31m/.envrc', `d=$(printf '\\033[31m'); mkdir "$d"; echo > "$d/.envrc"`],
  ])('is reported to the person and stays: %s', async (name, command) => {
    const { run, reported, quarantined } = await guardedWorkspace();
    const { attention, data } = await run(command);
    expect(attention).toEqual([{ name, quarantined: false, what: CONFIGURES }]);
    expect(reported).toEqual([
      `${name} is new or was changed, look at it before you use it: ${CONFIGURES}.`,
    ]);
    expect(data).toContain(reported[0]);
    expect(quarantined()).toEqual([]);
    expect((await run('true')).attention).toEqual([]);
  });

  test('is reported where an install would run it', async () => {
    const { run, place } = await guardedWorkspace({
      before: (at) => at.put('workspace/package.json', '{"scripts":{"prepare":"husky"}}'),
    });
    const unchanged = await run(`echo '{"scripts":{"prepare":"husky","test":"x"}}' > package.json`);
    const changed = await run(
      `echo '{"scripts":{"prepare":"touch ran"}}' > package.json; mkdir -p a node_modules/b; ` +
        `printf '\\357\\273\\277{"scripts":{"postinstall":"evil"}}' > a/package.json; cp a/package.json node_modules/b; ` +
        'echo "{}" > a/binding.gyp; ln -s ../package.json a/b.json',
    );
    await place.put('workspace/c/package.json', '{"scripts":{"install":"own"}}');
    await setTimeout(2 * QUARANTINE_LIMITS.clockSlackMs);
    const later = await run('true');
    expect(unchanged.attention).toEqual([]);
    const byName = [...changed.attention].sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(byName).toEqual([
      {
        name: 'a/binding.gyp',
        quarantined: false,
        what: [expect.stringContaining('npm builds it')],
      },
      { name: 'a/package.json', quarantined: false, what: ['postinstall = evil'] },
      { name: 'package.json', quarantined: false, what: ['prepare = touch ran'] },
    ]);
    expect(later.attention).toEqual([]);
  });

  test.each(['.cursorignore', '.geminiignore', '.qwenignore', '.cursorindexingignore'])(
    'is quarantined where it would close paths to tools: %s',
    async (name) => {
      const { run, quarantined } = await guardedWorkspace();
      const { attention } = await run(`mkdir a; echo "*" > a/${name}`);
      expect(attention).toEqual([
        { name: `a/${name}`, quarantined: true, what: [`a/${name}, all of it`] },
      ]);
      expect(quarantined()).toEqual([`a/${name}`]);
    },
  );

  test('is quarantined where it would be our own rules, which never count meanwhile', async () => {
    const { run, guard, quarantined, background } = await guardedWorkspace();
    const broken = 'mkdir .drawbridge; echo broken > .drawbridge/policy.json';
    expect((await run(broken)).attention).toEqual([
      { name: '.drawbridge', quarantined: true, what: ['.drawbridge, all of it'] },
    ]);
    await run(`sleep 0.2; ${broken}; touch made; sleep 60`, { is_background: true });
    const isForeign = await guard.isForeign('.drawbridge');
    await run('until [ -e made ]; do sleep 0.05; done');
    await background.endAll();
    await guard.close();
    expect({ isForeign, isStill: await guard.isForeign('.drawbridge') }).toEqual({
      isForeign: false,
      isStill: false,
    });
    expect(quarantined()).toEqual(['.drawbridge']);
  });

  test('is reported for the call whose command made it, though another call began the watch', async () => {
    let looks = 0;
    const { run, place, reportedFor } = await guardedWorkspace({
      listing: (list) => async () => {
        const listed = await list();
        looks += 1;
        return listed;
      },
    });
    const inBackground = (call: string, command: string) =>
      aboutCall({ call }, () => run(command, { is_background: true }));
    const until = (name: string) => `until [ -e ${name} ]; do sleep 0.05; done`;
    await inBackground('first', `${until('go-first')}; : first-at-work`);
    await inBackground('second', `${until('go-second')}; echo touch ran > .envrc; sleep 60`);
    const before = looks;
    await place.put('workspace/go-first', '');
    await vi.waitFor(async () => expect(await isAnyoneRunning('first-at-work')).toBe(false));
    // Its last look, which would find what the second one makes meanwhile.
    await vi.waitFor(() => expect(looks).toBeGreaterThan(before));
    await place.put('workspace/go-second', '');
    await vi.waitFor(() => expect(reportedFor).toEqual([{ call: 'second' }]));
  });

  test('counts as not there while a command could have made it', async () => {
    const { run, guard, root } = await guardedWorkspace();
    await run('until [ -e go ]; do sleep 0.02; done; mkdir .drawbridge; touch made; sleep 60', {
      is_background: true,
    });
    await writeFile(join(root, 'go'), '');
    await vi.waitFor(() => stat(join(root, 'made')));
    expect(await guard.isForeign('.drawbridge')).toBe(true);
  });

  test('goes to a state folder on another disk', async () => {
    const stateDir = await realpath(await mkdtemp('/dev/shm/drawbridge-state-'));
    onTestFinished(() => rm(stateDir, { recursive: true }));
    const { run, quarantined, root } = await guardedWorkspace({ withRepository: false, stateDir });
    const { attention } = await run(
      'git init -q new; git -C new config core.fsmonitor x; mkdir -p .drawbridge/a; ln -s /etc/passwd .drawbridge/a/link; mkfifo .drawbridge/pipe; echo text > .drawbridge/file',
    );
    expect(attention.map(({ quarantined: isAway }) => isAway)).toEqual([true, true]);
    expect(quarantined()).toEqual(['.drawbridge', 'new/.git/config']);
    expect((await readdir(root)).sort()).toEqual(['.env', '.vscode', 'new', 'readme']);
  });

  test('is reported with the next result where a cancelled call made it', async () => {
    const { run, root } = await guardedWorkspace();
    const cancel = new AbortController();
    const running = run('mkdir .husky; touch made; sleep 60', {}, cancel.signal);
    await vi.waitFor(() => stat(join(root, 'made')));
    cancel.abort();
    await running;
    expect((await run('true')).attention).toMatchObject([{ name: '.husky' }]);
    expect((await run('true')).attention).toEqual([]);
  });

  test('is reported loudly where it cannot be put away, and tried again', async () => {
    const { run, place, reported, root } = await guardedWorkspace();
    const folder = place.path('instances/state/quarantine');
    await run('true');
    await rm(folder, { recursive: true });
    await writeFile(folder, 'in the way');
    const { attention } = await run('mkdir .drawbridge');
    expect(attention).toMatchObject([
      { name: '.drawbridge', quarantined: false, failure: expect.any(String) },
    ]);
    expect(reported[0]).toContain('could NOT be quarantined');
    await rm(folder);
    expect((await run('true')).attention).toMatchObject([
      { name: '.drawbridge', quarantined: true },
    ]);
    expect(await readdir(root)).not.toContain('.drawbridge');
  });
});
