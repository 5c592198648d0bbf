/** Gives the model the list of skills, and the text of each that is activated once. Pure. */

import { SKILL_LIMITS } from '../../shared/limits.ts';
import { cutNote } from '../../shared/text/cut-lines.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { activateSkill, SkillMetadata } from '../../shared/tools/activate-skill.ts';
import type { Toolbox } from '../../shared/tools/toolbox.ts';
import type { Attachment } from '../../shared/wire/findings.ts';
import type { SkillSet } from '../../shared/wire/skills.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import { tagged } from './escape.ts';

/** Texts of activated skills and commands by their names, as the model has them. */
export type ActiveSkills = ReadonlyMap<string, string>;

/** What the model knows of the skills at some place. */
export interface KnownSkills {
  readonly active: ActiveSkills;
  /** Empty without a list. */
  readonly listed: string;
}

export const NO_SKILLS: KnownSkills = { active: new Map(), listed: '' };

export interface ActiveSkill {
  readonly name: string;
  readonly text: string;
}

/** The list and the parts of a message that show it, where it is another one than before. */
export function renderSkillList(
  set: SkillSet | undefined,
  known: string,
): { readonly parts: readonly string[]; readonly listed: string } {
  const listed = set ? listOf(set) : known;
  if (listed === known) return { parts: [], listed };
  return { parts: [tagged('available_skills', listed || '(none any more)')], listed };
}

/** Those that a model may activate. */
function listOf({ skills }: SkillSet): string {
  const lines: string[] = [];
  let left: number = SKILL_LIMITS.maxCatalogueChars;
  const listed = skills.filter(({ callers }) => callers !== 'person');
  for (const { name, description } of listed) {
    const line = `${name}: ${nameInLine(description)}`;
    left -= line.length + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const more = listed.length - lines.length;
  if (more > 0) lines.push(cutNote(more, 'activate one that the user names', 'skill'));
  return lines.join('\n');
}

/** Whose text an attachment is; undefined for one of another kind. */
export function skillAttached({ type, name, text }: Attachment): ActiveSkill | undefined {
  return type === 'skill' || type === 'command' ? { name, text } : undefined;
}

/** The skill whose text the result of a call is; undefined for another result. */
export function skillGiven(
  call: { readonly name: string },
  result: ToolResult | undefined,
  toolbox: Toolbox,
): ActiveSkill | undefined {
  if (result?.status !== 'success' || toolbox.nameOf(call.name) !== activateSkill.name) return;
  const { data } = SkillMetadata.safeParse(result.metadata);
  return data && { name: data.skill, text: result.data };
}

export function isActive(active: ActiveSkills, { name, text }: ActiveSkill): boolean {
  return active.get(name) === text;
}

export function withSkills(active: ActiveSkills, more: readonly ActiveSkill[]): ActiveSkills {
  if (more.length === 0) return active;
  return new Map([...active, ...more.map(({ name, text }) => [name, text] as const)]);
}

/** In place of a text that the model has already. */
export const ACTIVE_ALREADY = '(active already: its text is above, unchanged)';
