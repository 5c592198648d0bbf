import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Permission } from '../../../../shared/tools/run-terminal-cmd.ts';
import { cacheVariables, prepareCaches } from '../../launch/caches.ts';
import type { CommandRequest, Confinement } from '../../launch/confinement.ts';
import {
  freshWorkspace,
  NO_BUBBLEWRAP,
  OWNER,
  realConfinement,
  type SandboxedWorkspace,
} from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';

/** A confinement with caches in the folder `caches` of the place. */
async function cached(
  { surroundings, path }: SandboxedWorkspace,
  how?: { readonly isHeld: boolean },
): Promise<Confinement> {
  return await realConfinement({ ...surroundings, cacheFolder: path('caches') }, how);
}

async function attempt(
  confinement: Confinement,
  cwd: string,
  command: string,
  permissions: readonly Permission[] = [],
  asked: Partial<CommandRequest> = { hasCaches: true },
): Promise<string> {
  const request = { command, cwd, permissions, ...asked };
  return (await confinement.start(request, ({ launch }) => run(launch))).output;
}

describe.skipIf(NO_BUBBLEWRAP)(`package caches ${NO_BUBBLEWRAP ?? ''}`, () => {
  test('are kept from one command to the next, and led to once they were begun', async () => {
    const place = await freshWorkspace();
    const { workspace } = place.surroundings;
    using confinement = await cached(place);
    const show = 'echo "[$npm_config_cache]"';
    expect(await attempt(confinement, workspace, show)).toBe('[]\n');
    const begin = 'mkdir -p $npm_config_cache; echo kept >$npm_config_cache/a';
    expect(await attempt(confinement, workspace, begin, ['network'])).toBe('');
    expect(await attempt(confinement, workspace, `${show}; cat $npm_config_cache/a`)).toBe(
      '[/var/cache/drawbridge/npm]\nkept\n',
    );
    expect(await attempt(confinement, workspace, 'echo "[$CARGO_HOME]"')).toBe('[]\n');
    // Go builds nothing without a cache.
    expect(await attempt(confinement, workspace, 'echo $GOCACHE')).toBe(
      '/var/cache/drawbridge/go-build\n',
    );
    const { uid = process.getuid?.() } = OWNER;
    expect(lstatSync(place.path('caches')).uid).toBe(uid);
  });

  test('are not seen in another workspace, nor changed by our own programs', async () => {
    const place = await freshWorkspace();
    const { workspace } = place.surroundings;
    using confinement = await cached(place);
    await attempt(confinement, workspace, 'echo x >/var/cache/drawbridge/a');
    expect(existsSync(place.path('caches/a'))).toBe(true);
    const other = await freshWorkspace();
    expect(
      (await other.attempt(`cat ${place.path('caches/a')} /var/cache/drawbridge/a`)).output,
    ).not.toContain('x\n');
    const look = { file: '/bin/sh', args: ['-c', 'echo y >/var/cache/drawbridge/a'] };
    const env = { PATH: '/usr/bin:/bin' };
    const launch = { ...look, cwd: workspace, env, inputs: [], hasPidNamespace: true };
    await run(await confinement.confineLook(launch));
    expect(await place.text('caches/a')).toBe('x\n');
  });

  test.each<[string, Partial<CommandRequest>, readonly Permission[], { isHeld: boolean }?]>([
    ['a setup', {}, ['network']],
    ['a server', { isServer: true }, ['network']],
    ['a program that only reads', { isServer: true, isReadOnly: true }, []],
    ['a program where no base can be entered', {}, [], { isHeld: true }],
  ])(
    'are neither seen nor written by %s, and no variable leads it there',
    async (_, asked, permissions, how) => {
      const place = await freshWorkspace();
      const { workspace } = place.surroundings;
      using confinement = await cached(place, how);
      await attempt(
        confinement,
        workspace,
        'mkdir -p /var/cache/drawbridge/uv; echo x >/var/cache/drawbridge/uv/a',
      );
      const look =
        'ls -A /var/cache/drawbridge; echo "[$UV_CACHE_DIR$CARGO_HOME]"; ' +
        '{ echo y >/var/cache/drawbridge/b; mkdir -p /var/cache/drawbridge/uv; } 2>/dev/null || echo refused';
      expect(await attempt(confinement, workspace, look, permissions, asked)).toBe('[]\nrefused\n');
      expect([await place.text('caches/uv/a'), existsSync(place.path('caches/b'))]).toEqual([
        'x\n',
        false,
      ]);
    },
  );
});

test.skipIf(NO_BUBBLEWRAP)(
  'caches that have grown too large are emptied, and what a link in them names stays',
  async () => {
    const place = await freshWorkspace();
    const { account } = place;
    const folder = await prepareCaches(place.path('caches'), account, { mayEmpty: true });
    if (folder === undefined) throw new Error('no caches');
    await place.put('outside/kept', 'kept\n');
    await mkdir(join(folder, 'npm'));
    await writeFile(join(folder, 'npm/large'), 'x'.repeat(100_000));
    await symlink(place.path('outside'), join(folder, '.link'));
    for (const name of ['..kept', '...', '-delete', 'a\nb'])
      await writeFile(join(folder, name), '');
    const grown = async (mayEmpty: boolean, maxKib: number) => {
      await prepareCaches(folder, account, { mayEmpty, maxKib });
      return existsSync(join(folder, 'npm'));
    };
    expect(await grown(true, 1_000)).toBe(true);
    expect(await grown(false, 10)).toBe(true);
    giveAway(folder);
    expect(await grown(true, 10)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
    // What a command has locked is not measured, so it may be any size.
    await mkdir(join(folder, 'npm/locked'), { recursive: true });
    giveAway(folder);
    execFileSync('chmod', ['000', join(folder, 'npm/locked')]);
    expect(await grown(true, 1_000)).toBe(false);
    expect(await place.text('outside/kept')).toBe('kept\n');
    await rm(folder, { recursive: true });
    await symlink(place.path('outside'), folder);
    expect(await prepareCaches(folder, account, { mayEmpty: true, maxKib: 0 })).toBeUndefined();
    expect(await place.text('outside/kept')).toBe('kept\n');
    expect(cacheVariables(undefined, { mayDownload: true })).toEqual({});
  },
);

test('each version of pnpm is led to one store, and only what fails without one is always led', () => {
  const store = '/var/cache/drawbridge/pnpm';
  expect(cacheVariables('/none', { mayDownload: true })).toMatchObject({
    npm_config_store_dir: store,
    pnpm_config_store_dir: store,
  });
  expect(Object.keys(cacheVariables('/none', { mayDownload: false }))).toEqual([
    'GOCACHE',
    'GEM_HOME',
  ]);
});

/** What commands make in it belongs to their user. */
function giveAway(folder: string): void {
  const { uid, gid } = OWNER;
  if (uid !== undefined) execFileSync('chown', ['-hR', `${uid}:${gid}`, folder]);
}
