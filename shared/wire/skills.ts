/** The skills and commands that a bridge finds: folders and files of the workspace, and the owner's own. */
import * as z from 'zod';
import { REQUEST_LIMITS, SKILL_LIMITS } from '../limits.ts';

const { maxNameChars, maxDescriptionChars, maxHintChars, maxNoteChars } = SKILL_LIMITS;

/** A skill or a command without its text, which comes when it is activated. All of it is untrusted data. */
export const Skill = z.object({
  /** A command is the text of one file, and only a person calls it. */
  type: z.enum(['skill', 'command']),
  /** What follows the `/`. */
  name: z.string().min(1).max(maxNameChars),
  /** Name and description have at most SKILL_LIMITS.maxTokens. */
  description: z.string().max(maxDescriptionChars),
  /** Of its file: relative to the workspace, or with `~` for the home folder of the owner. */
  path: z.string().max(REQUEST_LIMITS.maxPathChars),
  origin: z.enum(['owner', 'workspace']),
  callers: z.enum(['anyone', 'model', 'person']),
  /** What may follow the name, for people. */
  takes: z.string().max(maxHintChars).optional(),
  /** The tools that its head asks for. It gets none by that. */
  tools: z.string().max(maxHintChars).optional(),
  /** What is wrong with the file, for people. */
  note: z.string().max(maxNoteChars).optional(),
});
export type Skill = z.infer<typeof Skill>;

/** `reason` completes the sentence "It is left out: ...". */
export const LeftOutSkill = z.object({
  path: Skill.shape.path,
  reason: z.string().max(maxNoteChars),
});
export type LeftOutSkill = z.infer<typeof LeftOutSkill>;

/** All skills and commands of a bridge. Their names are unique. */
export const SkillSet = z.object({
  skills: z.array(Skill).max(SKILL_LIMITS.maxSkills),
  /** Those that are broken, or that another one of their name takes the place of. */
  leftOut: z.array(LeftOutSkill).max(SKILL_LIMITS.maxLeftOut),
});
export type SkillSet = z.infer<typeof SkillSet>;

/** Whether a model may activate any of them. */
export function hasForModel(set: SkillSet | undefined): boolean {
  return set?.skills.some(({ callers }) => callers !== 'person') ?? false;
}

/** What others than the bridge's owner may know of them. */
export function skillsOfWorkspace({ skills }: SkillSet): SkillSet {
  return { skills: skills.filter(({ origin }) => origin === 'workspace'), leftOut: [] };
}
