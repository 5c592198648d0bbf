import { describe, expect, test } from 'vitest';
import { Egress, proxyVariables } from '../../egress/egress.ts';
import type { JudgeHost } from '../../egress/proxy.ts';
import { freshWorkspace, NO_BUBBLEWRAP, type SandboxedWorkspace } from '../sandboxed-workspace.ts';
import { run } from '../terminal/plain-launch.ts';
import { echoServer, only } from './proxied.ts';

/** Runs a command with a pass to the hosts that the judge opens; its output. */
async function withPass(
  { confinement, surroundings: { workspace: cwd } }: SandboxedWorkspace,
  {
    command,
    egress,
    conversationId = 'conv_a',
  }: { command: string; egress: Egress; conversationId?: string },
): Promise<{ output: string; refused: string[] }> {
  const door = await confinement.openDoor?.(conversationId);
  if (door === undefined) throw new Error('no door');
  using pass = egress.admit(door, { conversationId, hosts: [] });
  const variables = proxyVariables(door, pass);
  const request = { command, cwd, permissions: [], conversationId, variables, hosts: ['a.test'] };
  const { output } = await confinement.start(request, ({ launch }) => run(launch));
  return { output, refused: [...pass.refused.keys()] };
}

const egressTo = (judge: JudgeHost) =>
  new Egress(judge, {
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
    isPublic: () => true,
  });

/** A raw request to the proxy of the environment, without its credentials. */
const RAW =
  'p=${HTTP_PROXY##*:}; exec 3<>/dev/tcp/127.0.0.1/$p; printf "CONNECT a.test:443 HTTP/1.1\\r\\n\\r\\n" >&3; head -1 <&3';

describe.skipIf(NO_BUBBLEWRAP)(`a door ${NO_BUBBLEWRAP ?? ''}`, () => {
  test('leads commands with a pass to the hosts that are open, and to no other', async () => {
    const place = await freshWorkspace();
    const { port, seen } = await echoServer();
    const egress = egressTo(only(`a.test:${port}`));
    const command = `curl -s http://a.test:${port}/x; curl -sS http://b.test:${port}/ ; curl -sS http://127.0.0.1:${port}/ 2>&1`;
    const { output, refused } = await withPass(place, { command, egress });
    expect(output).toMatch(/^helloAsk with hosts.\n/);
    expect(output).toMatch(/connect to 127.0.0.1/);
    expect([seen.length, refused]).toEqual([1, [`b.test:${port}`]]);
  });

  test('lets nobody in without the token, and leaves everything else closed', async () => {
    const place = await freshWorkspace();
    const { port } = await echoServer();
    const egress = egressTo(async () => ({ isOpen: true, reach: 'any' }));
    const { output } = await withPass(place, { command: RAW, egress });
    expect(output).toContain('407');
    const direct = `
      exec 3<>/dev/tcp/127.0.0.1/${port} && echo reached
      exec 4<>/dev/tcp/1.1.1.1/443 && echo reached
      exec 5>/dev/udp/1.1.1.1/53 && echo x >&5 && echo reached
      getent hosts example.com && echo reached
      true`;
    const raw = await withPass(place, { command: direct, egress });
    expect(raw.output).not.toMatch(/^reached/m);
    expect(raw.output).toMatch(/unreachable/);
  });

  test('is not reached from another conversation, nor with the token of an ended command', async () => {
    const place = await freshWorkspace();
    const { port } = await echoServer();
    const egress = egressTo(async () => ({ isOpen: true, reach: 'any' }));
    const first = await withPass(place, { command: 'echo $HTTP_PROXY', egress });
    const proxy = first.output.trim();
    const again = `curl -sS --noproxy '' -x ${proxy} http://a.test:${port}/ 2>&1`;
    const own = await withPass(place, { command: again, egress });
    expect(own.output).toMatch(/Only a command with the permission network/);
    const other = await withPass(place, { command: again, egress, conversationId: 'conv_b' });
    expect(other.output).toMatch(/connect/);
    expect(other.output).not.toContain('hello');
  });

  test('stays shut in a sandbox whose networks cannot be entered', async () => {
    const place = await freshWorkspace({ isHeld: true });
    expect(place.confinement.openDoor).toBeUndefined();
  });
});
