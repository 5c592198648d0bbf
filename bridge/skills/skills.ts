/** Finds the skills and commands of a workspace and of its owner, and gives their texts. */
import { posix } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import type { Workspace } from '../../packages/workspace/index.ts';
import { REQUEST_LIMITS, SKILL_LIMITS } from '../../shared/limits.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';
import { nameInLine, shorten } from '../../shared/text/plain-sight.ts';
import type { LeftOutSkill, Skill, SkillSet } from '../../shared/wire/skills.ts';
import { type RuleLook, withinLookTime } from '../rules/rules.ts';
import { RuleTexts } from '../rules/texts.ts';
import { expand, wantsOutput } from './expand.ts';
import { SKILL_READ_LIMITS } from './limits.ts';
import { parseSkill, type SkillText } from './parse.ts';
import {
  candidatesIn,
  filesBeside,
  readIn,
  type SkillCandidate,
  type SkillFolder,
  type SkillPlace,
} from './places.ts';

/** What the policy lets the model read. */
export type SkillLook = Pick<RuleLook, 'mayName' | 'mayRead' | 'signal'>;

/** Who asks for a text. */
export interface SkillCaller {
  readonly as: 'model' | 'person';
  /** Whether it is the bridge's owner. Others get nothing of the owner's own. */
  readonly isOwners: boolean;
}

/** A skill's or a command's text as it enters a conversation. */
export interface SkillContent {
  readonly skill: Skill;
  readonly text: string;
}

interface FoundSkill extends SkillText {
  /** The real path of its file. */
  readonly real: string;
  readonly candidate: SkillCandidate;
  readonly folder: SkillFolder;
}

/** Reads only files that have changed since the last look. One look at a time. */
export class Skills {
  readonly #workspace: Workspace;
  readonly #places: readonly SkillPlace[];
  readonly #texts = new RuleTexts();

  constructor(workspace: Workspace, places: readonly SkillPlace[]) {
    this.#workspace = workspace;
    this.#places = places;
  }

  /**
   * All of them, within the bounds of {@link SkillSet}. Undefined where the disk does not answer in time.
   * @throws the signal's reason once it has aborted.
   */
  look(look: SkillLook): Promise<SkillSet | undefined> {
    return withinLookTime(this.#look(look));
  }

  async #look(look: SkillLook): Promise<SkillSet> {
    const { found, leftOut } = await this.#find(look, this.#texts);
    this.#texts.endLook();
    return { skills: found.map(({ skill }) => skill), leftOut };
  }

  /** Undefined where there is none of this name for the caller. */
  async content(
    { name, args }: { readonly name: string; readonly args: string },
    caller: SkillCaller,
    look: SkillLook,
  ): Promise<SkillContent | undefined> {
    const found = await this.#named(name, caller, look);
    if (!found) return undefined;
    const { skill, candidate, argumentNames, body } = found;
    const { family } = candidate.place;
    const folder = shownFolder(skill);
    const expanded = expand(body, { family, args, argumentNames, folder });
    const notes = [
      ...(skill.type === 'skill' ? await filesNote(found) : []),
      ...(wantsOutput(body) ? [NOT_RUN] : []),
    ].join('\n');
    const room = SKILL_READ_LIMITS.maxTextChars - notes.length - 200;
    const text = cutLines(expanded, room, `they are in ${nameInLine(skill.path)}`);
    return { skill, text: [`${nameInLine(skill.path)}\n\n${text}`, notes].join('\n\n').trimEnd() };
  }

  /** The text of a file in the skill's folder. Throws a {@link ToolFailure}. */
  async file(
    { name, file }: { readonly name: string; readonly file: string },
    caller: SkillCaller,
    look: SkillLook,
  ): Promise<string> {
    const found = await this.#named(name, caller, look);
    if (!found) throw noSkill(name);
    const read = await readIn(found.folder, file, new RuleTexts());
    if (read.state === 'text') return read.text;
    const why = read.state === 'none' ? 'it does not exist' : read.reason;
    throw new ToolFailure('FILE_NOT_FOUND', `${nameInLine(file)} of ${name} is not shown: ${why}.`);
  }

  async #named(
    name: string,
    caller: SkillCaller,
    look: SkillLook,
  ): Promise<FoundSkill | undefined> {
    const { found } = await this.#find(look, new RuleTexts(), caller);
    return found.find(({ skill }) => skill.name === name && mayCall(skill, caller));
  }

  async #find(
    { mayName, mayRead, signal }: SkillLook,
    texts: RuleTexts,
    { isOwners }: Pick<SkillCaller, 'isOwners'> = { isOwners: true },
  ): Promise<{ readonly found: FoundSkill[]; readonly leftOut: LeftOutSkill[] }> {
    const workspace = this.#workspace.showing((path) => mayName(path) && mayRead(path));
    const places = this.#places.filter(({ owners }) => isOwners || owners === undefined);
    const all = await Promise.all(places.map((place) => candidatesIn(place, workspace)));
    const candidates = all
      .flat()
      .filter(({ path, place }) => place.owners !== undefined || mayName(path))
      .slice(0, SKILL_READ_LIMITS.maxCandidates);
    const read = await Promise.all(candidates.map((one) => readCandidate(one, texts)));
    signal.throwIfAborted();
    const finding = new SkillFinding();
    for (const [at, candidate] of candidates.entries()) finding.add(candidate, read[at]);
    return finding;
  }
}

/** Collects the skills of one look. Of two with one name the first counts. */
class SkillFinding {
  readonly found: FoundSkill[] = [];
  readonly leftOut: LeftOutSkill[] = [];

  add(candidate: SkillCandidate, read: ReadSkill | undefined): void {
    const { path } = candidate;
    if (!read) return;
    if ('reason' in read) return this.#leaveOut(path, read.reason);
    const parsed = parseSkill(candidate, read.text);
    if ('reason' in parsed) return this.#leaveOut(path, parsed.reason);
    const twin = this.found.find(({ skill }) => skill.name === parsed.skill.name);
    if (twin?.real === read.real) return; // One folder is often linked to another.
    if (twin) return this.#leaveOut(path, `${twin.skill.path} has the same name`);
    if (this.found.length === SKILL_LIMITS.maxSkills) {
      return this.#leaveOut(path, `only ${SKILL_LIMITS.maxSkills} skills and commands are read`);
    }
    const { real, folder } = read;
    this.found.push({ ...parsed, candidate, real, folder });
  }

  #leaveOut(path: string, reason: string): void {
    if (this.leftOut.length === SKILL_LIMITS.maxLeftOut) return;
    if (path.length > REQUEST_LIMITS.maxPathChars) return;
    this.leftOut.push({ path, reason: shorten(reason, SKILL_LIMITS.maxNoteChars) });
  }
}

type ReadSkill =
  | { readonly text: string; readonly real: string; readonly folder: SkillFolder }
  | { readonly reason: string };

/** Undefined where there is no such file, for example behind a link to another folder. */
async function readCandidate(
  { open }: SkillCandidate,
  texts: RuleTexts,
): Promise<ReadSkill | undefined> {
  try {
    const folder = await open();
    const read = await readIn(folder, folder.file, texts);
    if (read.state === 'none') return undefined;
    if (read.state === 'unusable') return { reason: read.reason };
    return { text: read.text, real: read.path, folder };
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

function mayCall({ callers }: Skill, { as }: SkillCaller): boolean {
  return callers === 'anyone' || callers === as;
}

/** The failure of a name that no skill has. */
export function noSkill(name: string): ToolFailure {
  return new ToolFailure(
    'NO_SUCH_SKILL',
    `There is no skill ${nameInLine(name)} that you may activate: use a name of available_skills.`,
  );
}

function shownFolder({ path }: Skill): string {
  return posix.dirname(path);
}

/** The files of a skill of the workspace are read like all others, those of the owner's by the skill's name alone. */
async function filesNote({ skill, folder }: FoundSkill): Promise<string[]> {
  const files = await filesBeside(folder);
  if (files.length === 0) return [];
  const isOwn = skill.origin === 'owner';
  const shown = files.map((file) => nameInLine(isOwn ? file : `${shownFolder(skill)}/${file}`));
  const how = isOwn ? `activate_skill with name ${skill.name} and file` : 'read_file';
  return [`Files of the skill, for ${how}: ${shown.join(', ')}`];
}

const NOT_RUN =
  'No command in !`…` was run for this text. Run one yourself if you need its output.';
