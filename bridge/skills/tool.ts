/** Runs activate_skill: gives a skill's instructions, or a file of its folder. */

import { type BridgeTool, doing } from '../../packages/host/index.ts';
import { activateSkill } from '../../shared/tools/activate-skill.ts';
import { noSkill, type SkillLook, type Skills } from './skills.ts';

export interface SkillReading {
  readonly skills: Pick<Skills, 'content' | 'file'>;
  /** The policy of this moment: a skill gives no more than read_file would. */
  readonly readShowable: () => Promise<Omit<SkillLook, 'signal'>>;
}

export function createActivateSkill({ skills, readShowable }: SkillReading): BridgeTool {
  return doing(activateSkill, async ({ name, args = '', file }, { grantee, signal }) => {
    const look = { ...(await readShowable()), signal };
    const caller = { as: 'model', isOwners: grantee === undefined } as const;
    if (file !== undefined) {
      return { status: 'success', data: await skills.file({ name, file }, caller, look) };
    }
    const content = await skills.content({ name, args }, caller, look);
    if (!content) throw noSkill(name);
    return { status: 'success', data: content.text, metadata: { skill: name } };
  });
}
