import { afterAll, describe, expect, test } from 'vitest';
import type { Permission } from '../../../../shared/tools/run-terminal-cmd.ts';
import { selfTest } from '../../proof/self-test.ts';
import { BackgroundProcesses } from '../../terminal/background.ts';
import { freshWorkspace, NO_BUBBLEWRAP, type SandboxedWorkspace } from '../sandboxed-workspace.ts';
import { aboutCommand, run } from '../terminal/plain-launch.ts';

const background = new BackgroundProcesses();
afterAll(() => background.endAll());

/** Prints `reached` where a port answers. */
const ask = (port: number) =>
  `bash -c 'exec 3<>/dev/tcp/127.0.0.1/${port} && read -r line <&3 && echo $line' 2>&1`;

async function serve({ confinement, surroundings }: SandboxedWorkspace, conversationId: string) {
  const command = `perl -MIO::Socket::INET -e '
    my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1", LocalPort => 3000) or die $!;
    $| = 1; print "up\\n"; while (my $c = $s->accept) { print $c "reached\\n"; close $c }'`;
  const request = { command, cwd: surroundings.workspace, permissions: [], conversationId };
  const options = { onOutput: () => {}, signal: new AbortController().signal };
  const { output } = await confinement.start(request, ({ launch }) =>
    background.start(launch, { about: aboutCommand(command), ...options }),
  );
  expect(output).toBe('up\n');
}

async function attempt(
  { confinement, surroundings }: SandboxedWorkspace,
  command: string,
  conversationId?: string,
  permissions: readonly Permission[] = [],
): Promise<string> {
  const cwd = surroundings.workspace;
  const request = { command, cwd, permissions, ...(conversationId && { conversationId }) };
  return (await confinement.start(request, ({ launch }) => run(launch))).output;
}

describe.skipIf(NO_BUBBLEWRAP)(`a network of a conversation ${NO_BUBBLEWRAP ?? ''}`, () => {
  test('leads its commands to its servers, over new bases, and no other command anywhere', async () => {
    const place = await freshWorkspace();
    await serve(place, 'conv_a');
    const port = ask(3000);
    expect(await attempt(place, port, 'conv_a')).toBe('reached\n');
    await place.put('workspace/sub/.env', 'KEY=1\n');
    expect(await attempt(place, `${port}; cat sub/.env 2>&1`, 'conv_a')).toMatch(
      /^reached\n.*denied\n$/,
    );
    expect(await attempt(place, port, 'conv_a', ['git_write'])).toBe('reached\n');
    for (const other of ['conv_b', undefined]) {
      expect(await attempt(place, port, other)).toContain('refused');
    }
    expect(await attempt(place, port, 'conv_a', ['network'])).toContain('refused');
  });

  test('is shared also where processes are not', async () => {
    const place = await freshWorkspace({ hasOwnProcesses: true });
    await serve(place, 'conv_a');
    expect(await attempt(place, `${ask(3000)}; pgrep -x perl; echo $?`, 'conv_a')).toBe(
      'reached\n1\n',
    );
    expect(await selfTest(place.confinement, place.account, place.surroundings)).toBeUndefined();
  });

  test('has a loopback interface alone, over which no command has power', async () => {
    const place = await freshWorkspace();
    const looks =
      'cut -d: -f1 -s /proc/net/dev | tr -d " " | grep -v Inter; tail -n +2 /proc/net/route';
    expect(await attempt(place, looks, 'conv_a')).toMatch(/lo\n$/);
    expect(await attempt(place, 'ip link set lo down 2>&1', 'conv_a')).toContain('not permitted');
    const descriptors = await attempt(place, 'readlink /proc/self/fd/*', 'conv_a');
    expect(descriptors).not.toMatch(/(?:user|mnt|net):/);
    const outside = `bash -c 'exec 3<>/dev/tcp/1.1.1.1/80' 2>&1`;
    expect(await attempt(place, outside, 'conv_a')).toContain('unreachable');
  });
});
