/** Runs the real bridge of a house, as the process that `npm start` starts. */
import { join } from 'node:path';
import { bridgeEnvironment } from '../local/bridge/environment.ts';
import { runBridgeProcess } from '../local/bridge/process.ts';
import type { ConnectedBridge } from './empty-bridge.ts';
import type { House } from './house.ts';

const DRAWBRIDGE = join(import.meta.dirname, '..', 'bin', 'drawbridge.mjs');

/** Resolves when the bridge is connected. */
export async function connectRealBridge(house: House): Promise<ConnectedBridge> {
  const { url, state, workspaceDir } = house;
  const ending = new AbortController();
  const connected = Promise.withResolvers<void>();
  const running = runBridgeProcess(
    {
      ...{ url, state, workspaceDir },
      environment: bridgeEnvironment(process.env),
      command: [process.execPath, DRAWBRIDGE],
      onStatus: ({ event }) => {
        if (event === 'connected') connected.resolve();
      },
      onRestart: (death) => console.error(`The bridge died (${death}).`),
    },
    ending.signal,
  );
  await Promise.race([connected.promise, running]);
  return {
    bridgeId: state.bridgeId,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
    },
  };
}
