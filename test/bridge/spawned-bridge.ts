import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export const BRIDGE_ID = 'bridge_00000000-0000-4000-8000-000000000001';

interface Spawned {
  readonly url: string;
  readonly workspaceDir: string;
  readonly stateDir: string;
  readonly bridgeId?: string;
}

interface Options {
  /** A script of this folder that runs a bridge of the config of its argument. */
  readonly script?: string;
  readonly stderr?: 'inherit' | 'pipe';
  readonly env?: NodeJS.ProcessEnv;
}

/** A bridge in a process of its own. It is killed with the test. */
export function spawnBridge(
  config: Spawned,
  { script = 'running-bridge.ts', stderr = 'inherit', env = process.env }: Options = {},
): ChildProcess {
  const whole = JSON.stringify({ token: 'secret', bridgeId: BRIDGE_ID, ...config });
  const child = spawn(process.execPath, [join(import.meta.dirname, script), whole], {
    stdio: ['ignore', 'ignore', stderr],
    env,
  });
  onTestFinished(async () => await killed(child));
  return child;
}

export async function killed(bridge: ChildProcess): Promise<void> {
  if (bridge.exitCode !== null || bridge.signalCode !== null) return;
  const exited = once(bridge, 'exit');
  bridge.kill('SIGKILL');
  await exited;
}
