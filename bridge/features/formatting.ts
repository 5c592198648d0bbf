/** The owner's formatters, which an edit passes before it is proposed. */

import { Formatters, formattingShape } from '../../packages/code-checks/index.ts';
import type { BridgeGround, Feature } from '../feature.ts';

export function formatting({ config, owner }: Pick<BridgeGround, 'config' | 'owner'>): Feature {
  const { stateDir } = config;
  const { isDistrusted } = owner;
  return {
    inRoom: ({ workspace: { root }, confinement }) => ({
      shape: formattingShape(new Formatters({ root, confinement, stateDir, isDistrusted })),
    }),
  };
}
