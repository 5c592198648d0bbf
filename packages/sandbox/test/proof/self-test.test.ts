import { chmod, chown } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBubblewrap } from '../../launch/bubblewrap.ts';
import { bubblewrapConfinement } from '../../launch/bubblewrap-confinement.ts';
import { type Confinement, unconfined } from '../../launch/confinement.ts';
import { explainStart, selfTest } from '../../proof/self-test.ts';
import type { Launch } from '../../terminal/launch.ts';
import {
  NO_BUBBLEWRAP,
  OWNER,
  type SandboxedWorkspace,
  sandboxedWorkspace,
} from '../sandboxed-workspace.ts';

/** A sandbox whose commands are started with other arguments than ours. */
function altered(sandbox: Confinement, alter: (args: string[]) => string[]): Confinement {
  return relaunched(sandbox, (launch) => ({ ...launch, args: alter([...launch.args]) }));
}

/** The same with other options for bubblewrap, which reads them from the last input. */
function withOptions(sandbox: Confinement, alter: (options: string[]) => string[]): Confinement {
  return relaunched(sandbox, (launch) => {
    const options = Buffer.from(launch.inputs.at(-1) ?? [])
      .toString()
      .split('\0')
      .slice(0, -1);
    const bytes = Buffer.from(
      alter(options)
        .map((option) => `${option}\0`)
        .join(''),
    );
    return { ...launch, inputs: launch.inputs.with(-1, bytes) };
  });
}

function relaunched(sandbox: Confinement, change: (launch: Launch) => Launch): Confinement {
  return {
    ...sandbox,
    start: (request, start) =>
      sandbox.start(request, (command) => start({ ...command, launch: change(command.launch) })),
  };
}

/** Starts commands of no conversation, each in a network of its own. */
function withoutConversation({ start }: Confinement): Confinement['start'] {
  return ({ command, cwd, permissions }, begin) => start({ command, cwd, permissions }, begin);
}

/** A sandbox whose base is made with other arguments than ours: `from` is a part of them, as words. */
async function rebased(
  { account, path, put, surroundings }: SandboxedWorkspace,
  from: string,
  to: string,
): Promise<Confinement> {
  const found = await findBubblewrap();
  if (!found.ok) throw new Error(found.reason);
  const real = found.bubblewrap.file;
  // No word of these arguments holds a blank.
  await put(
    'outside/bwrap',
    `#!/bin/bash\nmapfile -d "" -t args <&3\nwords=" \${args[*]} "\n` +
      `[[ "$words" = *" ${from} "* ]] || { echo "no such words" >&2; exit 1; }\n` +
      `exec ${real} \${words/" ${from} "/" ${to} "} "\${@:3}"\n`,
  );
  await chmod(path('outside/bwrap'), 0o755);
  const file = path('outside/bwrap');
  const made = await bubblewrapConfinement({ ...found.bubblewrap, file }, account, surroundings);
  if (!made.ok) throw new Error(made.reason);
  return altered(made.confinement, (args) => args.map((arg) => (arg === file ? real : arg)));
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

  const outcome = (confinement: Confinement) =>
    selfTest(confinement, place.account, place.surroundings);

  test('passes the whole sandbox', async () => {
    expect(await outcome(place.confinement)).toBeUndefined();
  });

  test('passes a sandbox without a base', async () => {
    const held = await sandboxedWorkspace({ isHeld: true });
    const failure = await selfTest(held.confinement, held.account, held.surroundings);
    await held.remove();
    expect(failure).toBeUndefined();
  });

  test('fails no sandbox at all', async () => {
    const failure = await outcome(unconfined(place.surroundings, 'none'));
    expect(failure).toMatch(/^The sandbox failed its self-test: /);
  });

  test('notices a workspace that is not writable', async () => {
    const { workspace } = place.surroundings;
    const sandbox = await rebased(
      place,
      `--bind ${workspace} ${workspace}`,
      `--ro-bind ${workspace} ${workspace}`,
    );
    expect(await outcome(sandbox)).toContain('cannot write to the workspace');
  });

  // Only root can give a folder away, and only root meets this case.
  const isRoot = process.getuid?.() === 0;
  test.runIf(isRoot)('notices a workspace that belongs to another user', async () => {
    const { workspace } = place.surroundings;
    await chown(workspace, 65_534, 65_534);
    const failure = await outcome(place.confinement);
    await chown(workspace, OWNER.uid ?? 0, OWNER.gid ?? 0);
    expect(failure).toContain('cannot write to the workspace');
  });

  test.runIf(isRoot)('notices commands that are root’s', async () => {
    const { account, surroundings } = place;
    await chmod(place.base, 0o755);
    await chown(surroundings.workspace, 0, 0);
    const found = await findBubblewrap();
    if (!found.ok) throw new Error(found.reason);
    const asRoot = { ...account, prefix: [] };
    const made = await bubblewrapConfinement(found.bubblewrap, asRoot, surroundings);
    if (!made.ok) throw new Error(made.reason);
    const failure = await outcome(made.confinement);
    await chown(surroundings.workspace, OWNER.uid ?? 0, OWNER.gid ?? 0);
    expect(failure).toContain('commands run as user 0');
  });

  test('notices a disk that is writable', async () => {
    const { workspace } = place.surroundings;
    const bind = `--bind ${workspace} ${workspace}`;
    const sandbox = await rebased(place, bind, `--bind ${place.base} ${place.base} ${bind}`);
    expect(await outcome(sandbox)).toMatch(/home\/\.drawbridge-probe-\S+ was written/);
  });

  test.each(['home', 'instances'])('notices that %s can be read', async (name) => {
    const { workspace } = place.surroundings;
    const bind = `--bind ${workspace} ${workspace}`;
    const shown = `--ro-bind ${place.path(name)} ${place.path(name)} ${bind}`;
    expect(await outcome(await rebased(place, bind, shown))).toMatch(
      new RegExp(`${name}/\\S+-secret is readable`),
    );
  });

  test('notices a network that is open', async () => {
    const sandbox = altered(place.confinement, (args) =>
      args.filter((arg) => !arg.startsWith('--net=')),
    );
    expect(await outcome(sandbox)).toContain('the network is open');
    const alone = { ...place.confinement, start: withoutConversation(place.confinement) };
    const open = withOptions(alone, without(['--unshare-net']));
    expect(await outcome(open)).toContain('the network is open');
  });

  test('notices that the machine’s processes are in sight', async () => {
    const joined = altered(place.confinement, without(['--mount-proc']));
    expect(await outcome(joined)).toContain('the processes of the machine are in sight');
    const alone = { ...place.confinement, start: withoutConversation(place.confinement) };
    const open = withOptions(alone, without(['--proc', '/proc']));
    expect(await outcome(open)).toContain('the processes of the machine are in sight');
  });

  test('notices a folder in memory without a size', async () => {
    const sandbox = withOptions(place.confinement, (options) =>
      options.toSpliced(options.indexOf('/tmp') - 5, 2),
    );
    expect(await outcome(sandbox)).toContain('/tmp is not bounded');
  });

  test.each([
    [/ulimit -[up] \d+(?=;)/, '50000', 'the number of processes'],
    [/ulimit -d \d+(?=;)/, '99999999', 'the memory of a process'],
  ])('notices that %s is %s', async (limit, value, what) => {
    const sandbox = altered(place.confinement, (args) =>
      args.map((arg) => arg.replace(limit, (text) => text.replace(/\d+$/, value))),
    );
    expect(await outcome(sandbox)).toContain(`${what} is not bounded`);
  });

  test('the reason has the complaint of a bubblewrap that does not start', async () => {
    const { bubblewrap } = place;
    const at = (args: string[]) => args.lastIndexOf(bubblewrap) + 1;
    const sandbox = altered(place.confinement, (args) =>
      args.toSpliced(at(args), 0, '--no-such-option'),
    );
    expect(await outcome(sandbox)).toMatch(
      /^bubblewrap does not work here \(Unknown option --no-such-option\): this version/,
    );
  });

  test('the reason names a program that is not there', async () => {
    const sandbox: Confinement = {
      ...place.confinement,
      start: (request, start) =>
        place.confinement.start(request, (command) =>
          start({ ...command, launch: { ...command.launch, file: '/nowhere/bwrap' } }),
        ),
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
