/** Runs the real bridge of a house, as the process that `npm start` starts. */
import { join } from 'node:path';
import { bridgeEnvironment } from '../local/bridge/environment.ts';
import { BridgeHost } from '../local/bridge/host.ts';
import type { HostNews } from '../local/bridge/messages.ts';
import { mintBridgeToken } from '../local/state/tokens.ts';
import type { IndexReport } from '../machine/bridge-status.ts';
import type { ConnectedBridge } from './empty-bridge.ts';
import type { House } from './house.ts';

const DRAWBRIDGE = join(import.meta.dirname, '..', 'bin', 'drawbridge.mjs');

/** Resolves when the bridge is connected. `onIndex` gets each state of its index. */
export async function connectRealBridge(
  house: House,
  onIndex: (report: IndexReport) => void = () => {},
): Promise<ConnectedBridge> {
  const { url, state, workspaceDir } = house;
  const ending = new AbortController();
  const connected = Promise.withResolvers<void>();
  const environment = bridgeEnvironment(process.env);
  const host = new BridgeHost({
    command: [process.execPath, DRAWBRIDGE],
    environment,
    sharesTerminal: false,
    onOutput: (text) => console.error(text),
    onRestart: (death) => console.error(`The bridge died (${death}).`),
  });
  const { bridgeId, device } = state;
  const { token } = await mintBridgeToken(state.authSecret, bridgeId);
  const bridge = {
    url,
    token,
    bridgeId,
    environment,
    workspaceDir,
    asksAtTerminal: false,
    machineId: device.deviceId,
    machineDir: state.dir,
    stateDir: state.projectDir,
    logFile: join(state.logsDir, 'bridge.log'),
  };
  const onNews = (news: HostNews['news']) => {
    if (news.event === 'connected') connected.resolve();
    if (news.event === 'index') onIndex(news.index);
  };
  const running = host.run(bridge, onNews, ending.signal);
  await Promise.race([connected.promise, running]);
  return {
    bridgeId: state.bridgeId,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
      await host.end();
    },
  };
}
