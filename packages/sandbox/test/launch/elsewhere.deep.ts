import { existsSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Permission } from '../../../../shared/tools/run-terminal-cmd.ts';
import { freshWorkspace, NO_BUBBLEWRAP } from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';

/** A folder inside the state, with a folder `linked` of the workspace's and one beside both. */
async function elsewhere(isHeld: boolean) {
  const place = await freshWorkspace({ isHeld });
  await place.put('workspace/packages/tool.js', 'the tool\n');
  await place.put('workspace/packages/deep/.env', 'secret of a package\n');
  await place.put('workspace/packages/keys/id_rsa', 'secret key\n');
  await place.put('outside/objects/blob', 'an object\n');
  await place.put('instances/state/trees/one/linked/placeholder', '');
  await place.put('instances/state/trees/one/.env', 'secret of the tree\n');
  await place.put('instances/state/trees/two/file', 'of another\n');
  const workspace = place.path('instances/state/trees/one');
  const objects = place.path('outside/objects');
  const links = [
    { from: place.path('workspace/packages'), to: `${workspace}/linked` },
    { from: objects, to: objects },
  ];
  const confinement = await place.confinement.elsewhere({ workspace, links });
  onTestFinished(() => confinement[Symbol.dispose]());
  const attempt = async (command: string, ...permissions: Permission[]) => {
    const request = { command, cwd: workspace, permissions };
    return (await confinement.start(request, ({ launch }) => run(launch))).output;
  };
  return { place, attempt, confinement, workspace };
}

describe.skipIf(NO_BUBBLEWRAP).each([
  { isHeld: false, base: 'a base' },
  { isHeld: true, base: 'mounts of its own' },
])(`another folder, with $base ${NO_BUBBLEWRAP ?? ''}`, ({ isHeld }) => {
  test('is writable, and shows links read-only and without secrets', async () => {
    const { place, attempt } = await elsewhere(isHeld);
    expect(await attempt('echo made > file; cat file linked/tool.js')).toBe('made\nthe tool\n');
    expect(await place.text('instances/state/trees/one/file')).toBe('made\n');
    expect(await attempt('cat ../../../../outside/objects/blob')).toBe('an object\n');
    const tries = [
      ...['echo bad > linked/tool.js', 'rm linked/tool.js', 'mv linked other', 'touch linked/new'],
      ...['echo bad > ../../../../outside/objects/blob', 'touch ../../../../outside/objects/new'],
    ];
    for (const command of tries) expect(await attempt(command)).toMatch(/Read-only|busy/);
    const secrets = 'cat .env linked/deep/.env linked/keys/id_rsa';
    expect(await attempt(secrets)).not.toContain('secret');
    expect(await place.text('workspace/packages/tool.js')).toBe('the tool\n');
  });

  test.each(['from', 'to'])(
    'shows no link that has become another path, on the side %s',
    async (side) => {
      const { place, attempt } = await elsewhere(isHeld);
      await attempt('true');
      const link = side === 'from' ? 'workspace/packages' : 'instances/state/trees/one/linked';
      const target = side === 'from' ? 'home/.ssh' : 'outside';
      await rename(place.path(link), place.path(`${link}-before`));
      await symlink(place.path(target), place.path(link));
      // Makes the mounts anew.
      await place.put('instances/state/trees/one/.vscode/tasks.json', '{}');
      expect(await attempt('cat linked/id_ed25519 linked/tool.js linked/file; echo end')).toMatch(
        /^(?:cat: .*(?:No such file|denied).*\n){3}end\n$/,
      );
      expect(existsSync(place.path('outside/tool.js'))).toBe(false);
    },
  );

  test('does not show what is around it, nor the workspace', async () => {
    const { place, attempt } = await elsewhere(isHeld);
    const output = await attempt(
      `cat ../two/file ../../devices.json ${place.path('workspace/readme')}; ls ..`,
    );
    expect(output).not.toMatch(/of another|secret|hello/);
    expect(output).toMatch(/\none\n$/);
  });

  test('is looked at by programs of ours that see no more, and write only where they must', async () => {
    const { place, confinement, workspace } = await elsewhere(isHeld);
    const [readable, writable] = [
      place.path('outside/objects'),
      place.path('instances/state/trees/two'),
    ];
    const reach = { readable: [readable], writable: [writable] };
    const script =
      'cat "$1/blob"; echo more >> "$2/file"; cat "$2/file" "$3/readme"; touch "$1/new" made';
    const look = await confinement.confineLook(
      {
        file: '/bin/sh',
        args: ['-c', `exec 2>&1; ${script}`, 'sh', readable, writable, place.path('workspace')],
        cwd: workspace,
        env: { PATH: '/usr/bin:/bin' },
        inputs: [],
        hasPidNamespace: false,
      },
      reach,
    );
    const { output } = await run(look);
    expect(output).toMatch(/^an object\nof another\nmore\ncat: .*No such file/);
    expect(output.match(/Read-only file system/g)).toHaveLength(2);
  });

  test('is where a command for all works, which sees nothing else of the state', async () => {
    const { place, attempt } = await elsewhere(isHeld);
    const output = await attempt('echo made > file; cat file; cat ../two/file; ls ../..', 'all');
    expect(output).toMatch(/^made\n/);
    expect(output).not.toMatch(/of another|devices/);
    expect(await place.text('instances/state/trees/one/file')).toBe('made\n');
  });
});
