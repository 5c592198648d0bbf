import { chown } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Confinement, unconfined } from '../../../bridge/sandbox/confinement.ts';
import { selfTest } from '../../../bridge/sandbox/self-test.ts';
import { explainStart } from '../../../bridge/sandbox/start-failure.ts';
import {
  NO_BUBBLEWRAP,
  type SandboxedWorkspace,
  sandboxedWorkspace,
} from './sandboxed-workspace.ts';

/** A sandbox with other arguments than ours. */
function altered(sandbox: Confinement, alter: (args: string[]) => string[]): Confinement {
  return {
    ...sandbox,
    prepare: async (request) => {
      const prepared = await sandbox.prepare(request);
      return {
        ...prepared,
        launch: { ...prepared.launch, args: alter([...prepared.launch.args]) },
      };
    },
  };
}

/** Takes a sequence of arguments out, or puts another in its place. */
function without(sequence: readonly string[], instead: readonly string[] = []) {
  return (args: string[]): string[] => {
    const at = args.findIndex((_, index) =>
      sequence.every((arg, next) => args[index + next] === arg),
    );
    if (at === -1) throw new Error(`no ${sequence.join(' ')} in ${args.join(' ')}`);
    return args.toSpliced(at, sequence.length, ...instead);
  };
}

describe.skipIf(NO_BUBBLEWRAP)(`the self-test ${NO_BUBBLEWRAP ?? ''}`, () => {
  let place: SandboxedWorkspace;
  beforeAll(async () => {
    place = await sandboxedWorkspace();
  });
  afterAll(() => place.remove());

  const outcome = (confinement: Confinement) => selfTest(confinement, place.surroundings);

  test('passes the whole sandbox', async () => {
    expect(await outcome(place.confinement)).toBeUndefined();
  });

  test('fails no sandbox at all', async () => {
    const failure = await outcome(unconfined(place.surroundings, 'none'));
    expect(failure).toBe('The sandbox failed its self-test: .git is not read-only.');
  });

  test('notices a workspace that is not writable', async () => {
    const { workspace } = place.surroundings;
    const sandbox = altered(place.confinement, without(['--bind', workspace, workspace]));
    expect(await outcome(sandbox)).toContain('cannot write to the workspace');
  });

  // Only root can give a folder away, and only root meets this case.
  const isRoot = process.getuid?.() === 0;
  test.runIf(isRoot)('notices a workspace that belongs to another user', async () => {
    await chown(place.surroundings.workspace, 65_534, 65_534);
    const failure = await outcome(place.confinement);
    await chown(place.surroundings.workspace, 0, 0);
    expect(failure).toContain('cannot write to the workspace');
  });

  test('notices a disk that is writable', async () => {
    const sandbox = altered(
      place.confinement,
      without(['--ro-bind', '/', '/'], ['--bind', '/', '/']),
    );
    expect(await outcome(sandbox)).toMatch(/home\/\.drawbridge-probe-\S+ was written/);
  });

  test('notices a network that is open', async () => {
    const sandbox = altered(place.confinement, without(['--unshare-net']));
    expect(await outcome(sandbox)).toContain('the network is open');
  });

  test('notices a repository that is writable', async () => {
    const sandbox = altered(place.confinement, (args) =>
      args.map((arg, index) =>
        arg === '--ro-bind-try' && args[index + 1]?.endsWith('.git') ? '--bind' : arg,
      ),
    );
    expect(await outcome(sandbox)).toContain('.git is not read-only');
  });

  test.each(['home/.ssh', 'state'])('notices that %s can be read', async (name) => {
    const sandbox = altered(
      place.confinement,
      without(['--perms', '0000', '--tmpfs', place.path(name)]),
    );
    expect(await outcome(sandbox)).toMatch(new RegExp(`${name}\\S* is readable`));
  });

  test('notices a token that can be read', async () => {
    const sandbox = altered(
      place.confinement,
      without(['--ro-bind', '/dev/null', place.path('home/.npmrc')]),
    );
    expect(await outcome(sandbox)).toContain('.npmrc is readable');
  });

  test('tells what bubblewrap complains about when it does not start', async () => {
    const sandbox = altered(place.confinement, (args) => ['--no-such-option', ...args]);
    expect(await outcome(sandbox)).toBe(
      'bubblewrap does not work here (Unknown option --no-such-option).',
    );
  });

  test('tells when the program is not there', async () => {
    const { prepare } = place.confinement;
    const sandbox: Confinement = {
      ...place.confinement,
      prepare: async (request) => {
        const prepared = await prepare(request);
        return { ...prepared, launch: { ...prepared.launch, file: '/nowhere/bwrap' } };
      },
    };
    expect(await outcome(sandbox)).toContain('ENOENT');
  });
});

describe('the reason why bubblewrap does not start', () => {
  test.each([
    ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n', 'AppArmor'],
    ['bwrap: setting up uid map: Permission denied\n', 'AppArmor'],
    ['bwrap: No permissions to create new namespace, likely because ...\n', 'user namespaces'],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n", 'unmasked /proc'],
  ])('%s comes with what helps', (output, hint) => {
    expect(explainStart(output)).toContain(hint);
  });

  test('is one sentence even when nothing was printed', () => {
    expect(explainStart('')).toBe('bubblewrap does not work here (it printed nothing).');
  });
});
