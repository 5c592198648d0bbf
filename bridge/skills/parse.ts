/** Reads what a skill or a command says of itself. Pure. */
import { SKILL_LIMITS } from '../../shared/limits.ts';
import { inOneLine, shorten } from '../../shared/text/plain-sight.ts';
import { Skill } from '../../shared/wire/skills.ts';
import { type HeadFields, listOf, splitHead, textOf } from '../rules/frontmatter.ts';
import type { SkillCandidate, SkillFamily } from './places.ts';

/** A skill with its text, or the reason why the file is none. */
export type ParsedSkill = SkillText | { readonly reason: string };

export interface SkillText {
  readonly skill: Skill;
  /** The file without its head. */
  readonly body: string;
  /** Names that the body has for the words behind its own name, such as `$issue`. */
  readonly argumentNames: readonly string[];
}

/** Each family has its own way with a head that lacks something. */
export function parseSkill(
  { place: { type, family, owners }, path, name: fileName }: Omit<SkillCandidate, 'open'>,
  text: string,
): ParsedSkill {
  const { body, fields, problem } = family === 'cursor' ? { body: text.trim() } : splitHead(text);
  if (problem !== undefined) return { reason: problem };
  if (body === '') return { reason: 'it is empty' };
  const head = textOf(fields, 'name');
  const isNamedByHead = family === 'agents' && NAME.test(head);
  const name = isNamedByHead ? head : fileName;
  if (!NAME.test(name))
    return { reason: 'its name is not one word of letters, digits, . _ : or -' };
  const own = textOf(fields, 'description');
  if (own === '' && family === 'agents') return { reason: 'its head has no description' };
  const callers = type === 'command' ? 'person' : callersOf(fields);
  if (callers === null) return { reason: 'its head lets neither the model nor a person call it' };
  const described = inOneLine(own || firstLine(body));
  const [takes, tools] = ['argument-hint', 'allowed-tools'].map((key) => hintOf(fields, key));
  const isOther = type === 'skill' && head !== '' && head !== fileName;
  const skill: Skill = {
    type,
    name,
    path,
    callers,
    description: withinTokens(described, name),
    origin: owners === undefined ? 'workspace' : 'owner',
    ...(takes && { takes }),
    ...(tools && { tools }),
    ...(isOther && { note: otherName(head, fileName, family) }),
  };
  const parsed = Skill.safeParse(skill);
  if (!parsed.success) return { reason: 'its name or its path is too long' };
  const argumentNames = listOf(fields, 'arguments').flatMap((one) => one.split(/\s+/));
  return { skill: parsed.data, body, argumentNames };
}

/** It is written behind a `/`. */
const NAME = /^\w[\w.-]*(?::\w[\w.-]*)*$/;

function callersOf(fields: HeadFields | undefined): Skill['callers'] | null {
  const isForPerson = textOf(fields, 'user-invocable').toLowerCase() !== 'false';
  const isForModel = textOf(fields, 'disable-model-invocation').toLowerCase() !== 'true';
  if (isForPerson) return isForModel ? 'anyone' : 'person';
  return isForModel ? 'model' : null;
}

function hintOf(fields: HeadFields | undefined, key: string): string {
  return shorten(inOneLine(textOf(fields, key)), SKILL_LIMITS.maxHintChars);
}

function firstLine(body: string): string {
  const line = body.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.replace(/^[#\s]+/, '');
}

function otherName(head: string, folder: string, family: SkillFamily): string {
  const called = family === 'agents' ? 'its folder' : 'its head';
  const other = family === 'agents' ? folder : head;
  return shorten(`${called} has the name ${inOneLine(other)}`, SKILL_LIMITS.maxNoteChars);
}

/** The description, so short that a line with the name has at most SKILL_LIMITS.maxTokens. */
function withinTokens(description: string, name: string): string {
  let left = SKILL_LIMITS.maxTokens - LINE_TOKENS;
  for (const char of name) left -= tokensOf(char);
  let end = 0;
  for (const char of description) {
    left -= tokensOf(char);
    if (left < 0 || end + char.length >= SKILL_LIMITS.maxDescriptionChars) break;
    end += char.length;
  }
  return end < description.length ? `${description.slice(0, end).trimEnd()}…` : description;
}

/** Tokenizers take some four letters of English for a token, and at least one of anything else. */
function tokensOf(char: string): number {
  return /[A-Za-z ]/.test(char) ? 1 / 4 : 1;
}

/** What a line has besides: a colon, a line end, the sign of a cut. */
const LINE_TOKENS = 6;
