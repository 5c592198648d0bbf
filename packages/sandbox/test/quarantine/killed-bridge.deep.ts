import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { killed, spawnBridge } from '../../../../test/bridge/spawned-bridge.ts';
import { ScriptedTunnel } from '../../../../test/bridge/tunnel/scripted-tunnel.ts';
import { newCall } from '../../../../test/bridge/tunnel/session-bench.ts';
import { listRecords } from '../../quarantine/store.ts';
import {
  NO_BUBBLEWRAP,
  type SandboxedWorkspace,
  sandboxedWorkspace,
} from '../sandboxed-workspace.ts';

let tunnel: ScriptedTunnel;
let place: SandboxedWorkspace;
beforeEach(async () => {
  tunnel = await ScriptedTunnel.open();
  place = await sandboxedWorkspace();
});
afterEach(async () => {
  await tunnel[Symbol.asyncDispose]();
  await place.remove();
});

function startBridge(): ChildProcess {
  const { workspace } = place.surroundings;
  const stateDir = place.path('instances/state');
  const env = { ...process.env, HOME: place.path('home') };
  const config = { url: tunnel.url, workspaceDir: workspace, stateDir };
  return spawnBridge(config, { stderr: 'pipe', env });
}

const config = () => place.text('workspace/new/.git/config');
const isThere = (name: string) => vi.waitFor(() => stat(place.path(`workspace/${name}`)));

describe.skipIf(NO_BUBBLEWRAP)(`a bridge that is killed ${NO_BUBBLEWRAP ?? ''}`, () => {
  test.each([
    ['before the end of the command', 'sleep 60', {}],
    ['while a command runs in the background', 'sleep 60', { is_background: true }],
  ])(
    'finds at its next start what a command had made, killed %s',
    async (_, rest, options) => {
      const first = startBridge();
      const connection = await tunnel.welcomed();
      const command =
        'until [ -e go ]; do sleep 0.02; done; git init -q new; ' +
        `git -C new config core.fsmonitor x; mkdir .drawbridge; touch made; ${rest}`;
      connection.send({ type: 'call', call: newCall('run_terminal_cmd', { command, ...options }) });
      if ('is_background' in options) await connection.next('result');
      await writeFile(place.path('workspace/go'), '');
      await isThere('made');
      await killed(first);
      expect(await config()).toContain('fsmonitor');
      const second = startBridge();
      // From the beginning: what is unread when it ends is thrown away.
      const said = text(second.stderr as Readable);
      await tunnel.welcomed();
      expect(await config()).not.toContain('fsmonitor');
      const { records } = listRecords(place.path('instances/state'));
      const names = records.flatMap(({ items }) => items.map(({ name }) => name));
      expect(names.sort()).toEqual(['.drawbridge', 'new/.git/config']);
      await killed(second);
      expect(await said).toContain(
        'new/.git is new; what could start programs there was quarantined',
      );
    },
    30_000,
  );

  test('takes for the person’s what came while no bridge ran', async () => {
    const first = startBridge();
    const connection = await tunnel.welcomed();
    connection.send({ type: 'call', call: newCall('run_terminal_cmd', { command: 'true' }) });
    await connection.next('result');
    first.kill('SIGTERM');
    await once(first, 'exit');
    await place.put('workspace/new/.git/config', '[core]\n\tpager = less\n');
    startBridge();
    await tunnel.welcomed();
    expect(await config()).toContain('less');
  });
});
