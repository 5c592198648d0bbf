/** The rules that the folder and the owner have for agents. */
import type { BridgeGround, Feature } from '../feature.ts';
import { Rules } from './rules.ts';

export function rules({ config, workspace, signal }: BridgeGround): Feature {
  const { configDir, stateDir } = config;
  // Those for all projects come before those for this one.
  const owners = configDir === undefined ? [stateDir] : [configDir, stateDir];
  const found = new Rules(workspace, owners);
  return {
    look: async (showable, listed) => ({
      rules: await found.look({ ...showable, listed, signal }),
    }),
  };
}
