import * as z from 'zod';
import { SKILL_LIMITS } from '../limits.ts';
import { defineTool } from './definition.ts';

/** Gives the model a skill's instructions, or another file of the skill's folder. */
export const activateSkill = defineTool({
  name: 'activate_skill',
  aliases: ['Skill', 'skill'],
  description:
    'Get the instructions of one of available_skills. They stay in the conversation: activate a skill once. ' +
    'With file, get another file of its folder, which the instructions name.',
  arguments: z.object({
    name: z.string().min(1).max(SKILL_LIMITS.maxNameChars),
    args: z.string().max(SKILL_LIMITS.maxArgsChars).optional(),
    file: z.string().min(1).optional().describe("Path of a file, relative to the skill's folder"),
  }),
  renamed: { skill: 'name', skill_name: 'name', skillName: 'name', path: 'file' },
  effect: 'read',
  changesContent: false,
  listsPaths: false,
  heldWith: [],
  reaches: 'skills',
  idempotent: true,
  executor: 'bridge',
  document: { type: 'tool_call' },
  subject: ({ name }) => name,
});

/** The metadata of a result with a skill's instructions: the conversation keeps such a result whole. */
export const SkillMetadata = z.object({ skill: z.string().max(SKILL_LIMITS.maxNameChars) });
