/** Skills and commands: folders and files of instructions that the model and people call by their names. */
import type { BridgeGround, Feature } from '../feature.ts';
import { placesOf } from './places.ts';
import { Skills } from './skills.ts';
import { createActivateSkill } from './tool.ts';

export function skills({ config, workspace, owner, signal }: BridgeGround): Feature {
  const found = new Skills(workspace, placesOf(config.configDir));
  const tools = [createActivateSkill({ skills: found, readShowable: owner.readFindable })];
  return {
    inRoom: () => ({ tools }),
    look: async (showable) => ({ skills: await found.look({ ...showable, signal }) }),
    finds: {
      skillContent: (called, isOwners, sees) =>
        found.content(called, { as: 'person', isOwners }, sees),
    },
  };
}
