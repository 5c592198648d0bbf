/** Names with a dot that commands make at the top of a workspace, whether or not a table has them. */
import { describe, expect, test } from 'vitest';
import { reportingNames } from '../../../../bridge/tools/new-names.ts';
import {
  carryOut,
  contextIn,
  FILE_TOOLS,
} from '../../../../test/bridge/tools/temporary-workspace.ts';
import type { BridgeTool } from '../../../host/tool.ts';
import { Workspace } from '../../../workspace/workspace.ts';
import { NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { guardedWorkspace } from './guarded-workspace.ts';

const NEW = 'a new name with a dot at the top, and some programs obey such names';

describe.skipIf(NO_BUBBLEWRAP)(`new names with a dot ${NO_BUBBLEWRAP ?? ''}`, () => {
  test('are reported once, in the result and at the machine', async () => {
    const { run, reported } = await guardedWorkspace({
      before: async (place) => await place.put('workspace/.theirs', ''),
    });
    const { attention } = await run('mkdir .tool-of-2027; echo x > .toolrc; touch a.txt .theirs');
    expect(attention).toEqual([
      { name: '.tool-of-2027', quarantined: false, what: [NEW] },
      { name: '.toolrc', quarantined: false, what: [NEW] },
    ]);
    expect(reported).toHaveLength(2);
    expect((await run('rm -r .toolrc .theirs; touch .toolrc .theirs')).attention).toEqual([]);
  });

  test('are reported of a command that a killed bridge left, and once over restarts', async () => {
    const first = await guardedWorkspace();
    const stateDir = first.place.path('instances/state');
    await first.run('touch .a');
    // The other folder has entries of its own, which that bridge does not know.
    const list = async () =>
      (await second()).attention.filter(({ name }) => name !== '.git' && name !== '.vscode');
    const second = async () => {
      // The folder of the first has `.b` now, as a command would have left it; nothing had looked since.
      const again = await guardedWorkspace({
        stateDir,
        before: async (place) => {
          await place.put('workspace/.a', '');
          await place.put('workspace/.b', '');
        },
      });
      return await again.run('true');
    };
    expect(await list()).toEqual([{ name: '.b', quarantined: false, what: [NEW] }]);
    expect(await list()).toEqual([]);
  });

  test('say nothing of folders of builds and tests, but of a name inside that agents obey', async () => {
    const { run } = await guardedWorkspace();
    const silent = '.venv .next .turbo .pytest_cache .mypy_cache .gradle .terraform .cache';
    const { attention } = await run(
      `mkdir ${silent}; mkdir .venv/.claude; echo {} > .venv/.claude/settings.json`,
    );
    expect(attention).toMatchObject([{ name: '.venv/.claude', quarantined: true }]);
  });

  test('are reported where package managers, editors and version managers obey them', async () => {
    const { run } = await guardedWorkspace();
    const names =
      '.bundle .dockerignore .editorconfig .github .nvmrc .pnp.cjs .python-version .swiftpm';
    const { attention } = await run(`mkdir ${names}`);
    expect(attention).toEqual(
      names.split(' ').map((name) => ({ name, quarantined: false, what: [NEW] })),
    );
  });

  test('of a file tool are reported like those of a command, and no more by the next one', async () => {
    const { root, guard, run, reported } = await guardedWorkspace({
      before: async (place) => await place.put('workspace/.theirs', ''),
    });
    const context = await contextIn(await Workspace.open(root));
    const call = async (tool: string, args: Record<string, unknown>) =>
      await carryOut(reportingNames(FILE_TOOLS.get(tool) as BridgeTool, guard), args, context);
    const items = (...names: string[]) =>
      names.map((name) => ({ name, quarantined: false, what: [NEW] }));
    const made = await call('write', { path: '.tool/config', contents: 'x' });
    expect(made).toMatchObject({ metadata: { newlyProtected: items('.tool') } });
    expect(made.data).toContain(
      `.tool is new or was changed, look at it before you use it: ${NEW}`,
    );
    for (const [path, contents] of [
      ['.tool/more', 'x'],
      ['.theirs', 'x'],
      ['a.txt', 'x'],
      ['.gitignore', 'x'],
    ]) {
      const { metadata } = await call('write', { path, contents });
      expect([path, metadata?.['newlyProtected']]).toEqual([path, undefined]);
    }
    const renamed = await call('rename_file', { target_file: 'a.txt', new_path: '.toolrc' });
    expect(renamed).toMatchObject({ metadata: { newlyProtected: items('.toolrc') } });
    expect((await run('touch .tool .toolrc .other')).attention).toEqual(items('.other'));
    expect(reported).toHaveLength(3);
  });

  test('are counted where a command makes thousands', async () => {
    const { run } = await guardedWorkspace();
    const { attention } = await run('for i in $(seq 3000); do : > .x$i; done');
    expect(attention).toHaveLength(21);
    const { name, what } = attention.at(-1) ?? {};
    expect([name, what?.length, what?.[0], what?.at(-1)]).toEqual([
      '2980 more',
      21,
      '.x1016',
      '2960 more',
    ]);
  });
});
