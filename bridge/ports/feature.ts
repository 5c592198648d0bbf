/** What commands left running, for people: they stop processes, and open ports of theirs to this machine. */
import { devicesOf } from '../admission/devices.ts';
import type { BridgeGround, Feature } from '../feature.ts';
import { OpenPorts } from './open-ports.ts';
import { reportProcesses } from './report.ts';

export function processes({ config, book }: Pick<BridgeGround, 'config' | 'book'>): Feature {
  const { bridgeId } = config;
  const ports = new OpenPorts({ bridgeId, book, devices: () => devicesOf(config) });
  return {
    answers: {
      processes: async ({ askId, type, ...ask }) => ({
        type,
        askId,
        ...(await reportProcesses(book, ports, ask)),
      }),
    },
    end: () => ports.end(),
  };
}
