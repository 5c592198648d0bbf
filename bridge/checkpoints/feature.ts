/** Undo: keeps what calls change, and takes it back. */
import type { BridgeGround, Feature } from '../feature.ts';
import { Checkpoints } from './checkpoints.ts';
import { undoTools } from './tools.ts';
import { undoingIn } from './undoing.ts';

/** Adds nothing where the state folder cannot be used; the log says why. */
export function undo({ config }: Pick<BridgeGround, 'config'>): Feature {
  const checkpoints = Checkpoints.open(config.stateDir);
  if (!checkpoints) return {};
  const tools = undoTools(checkpoints);
  return {
    inRoom: (source) => ({ tools, undoing: undoingIn(checkpoints, source) }),
    end: async (callsEnded) => {
      await callsEnded;
      checkpoints.end();
    },
  };
}
