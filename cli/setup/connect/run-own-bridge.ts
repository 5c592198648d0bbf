/** The bridge of this program, for the commands that run one. */
import type { BridgeConfig } from '../../../bridge/config.ts';

/** Runs the bridge (bridge/run.ts) until `signal` aborts or the server refuses it. */
export type RunBridge = (config: BridgeConfig, signal: AbortSignal) => Promise<void>;

/** Imports the bridge only when it is needed: the other commands start without its tools. */
export async function runOwnBridge(config: BridgeConfig, signal: AbortSignal): Promise<void> {
  const { runBridge } = await import('../../../bridge/run.ts');
  await runBridge(config, signal);
}
