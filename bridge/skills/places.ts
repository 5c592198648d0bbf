/** Where skills and commands lie, and the reading of their folders. */
import { homedir } from 'node:os';
import { join, posix } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { readEntries, Workspace, WorkspaceError } from '../../packages/workspace/index.ts';
import type { Skill } from '../../shared/wire/skills.ts';
import type { FoundText, RuleTexts } from '../rules/texts.ts';
import { SKILL_READ_LIMITS } from './limits.ts';

/** How the programs that a folder was made for read it. */
export type SkillFamily = 'agents' | 'claude' | 'cursor';

/** A folder with skills, each a folder with a `SKILL.md`; or with commands, each a Markdown file. */
export interface SkillPlace {
  readonly type: Skill['type'];
  readonly family: SkillFamily;
  /** Relative to the workspace, or with `~` for the owner's. */
  readonly folder: string;
  /** Absolute. Undefined for a folder of the workspace. */
  readonly owners?: string;
}

/**
 * The places in their order: of two skills with one name the first counts, and a skill counts before a command. Claude
 * Code prefers the person's own to the project's; in `.agents` the project's come first.
 */
export function placesOf(configDir: string | undefined, home: string = homedir()): SkillPlace[] {
  const owners = (folder: string) => ({
    folder: `~/${folder}`,
    owners: join(home, ...folder.split('/')),
  });
  const skill = { type: 'skill' } as const;
  const command = { type: 'command' } as const;
  const config = configDir && {
    folder: configDir.replace(`${home}/`, '~/').concat('/skills'),
    owners: join(configDir, 'skills'),
  };
  return [
    { ...skill, family: 'agents', folder: '.drawbridge/skills' },
    { ...skill, family: 'agents', folder: '.agents/skills' },
    { ...skill, family: 'claude', ...owners('.claude/skills') },
    { ...skill, family: 'claude', folder: '.claude/skills' },
    ...(config ? [{ ...skill, family: 'agents', ...config } as const] : []),
    { ...skill, family: 'agents', ...owners('.agents/skills') },
    { ...command, family: 'claude', ...owners('.claude/commands') },
    { ...command, family: 'claude', folder: '.claude/commands' },
    { ...command, family: 'cursor', folder: '.cursor/commands' },
    { ...command, family: 'cursor', ...owners('.cursor/commands') },
  ];
}

/** A file that may be a skill or a command. */
export interface SkillCandidate {
  readonly place: SkillPlace;
  /** As it is shown to people. */
  readonly path: string;
  /** What the file's folder (a skill) or the file (a command) is called. */
  readonly name: string;
  /** Has everything that belongs to it, and nothing else. Throws a {@link ToolFailure}. */
  readonly open: () => Promise<SkillFolder>;
}

/** The folder of one skill, or of one command's file. */
export interface SkillFolder {
  readonly workspace: Workspace;
  /** Relative to `workspace`. */
  readonly folder: string;
  /** The file with the text, relative to `folder`. */
  readonly file: string;
}

/** The candidates of a place, sorted by their paths. `workspace` shows what the model may read without a question. */
export async function candidatesIn(
  place: SkillPlace,
  workspace: Workspace,
): Promise<SkillCandidate[]> {
  const top = await open(place, workspace);
  if (!top) return [];
  const files = place.type === 'skill' ? await skillFiles(top, place) : await commandFiles(top);
  return files.map(({ path, name }) => ({
    place,
    path: `${place.folder}/${path}`,
    name,
    open: async () => {
      if (place.type === 'command') return { ...top, file: path };
      const folder = posix.join(top.folder, posix.dirname(path));
      if (place.owners === undefined) return { workspace, folder, file: SKILL_FILE };
      // The owner's own link may lead out of the place, but nothing leads out of the skill's folder.
      const own = await openOwners(join(place.owners, posix.dirname(path)));
      if (!own) throw new ToolFailure('FILE_NOT_FOUND', 'Its folder cannot be opened.');
      return { workspace: own, folder: '.', file: SKILL_FILE };
    },
  }));
}

/** A file of a skill's folder, within it by its real path. */
export async function readIn(
  { workspace, folder }: SkillFolder,
  file: string,
  texts: RuleTexts,
): Promise<FoundText> {
  const found = await texts.read(workspace, posix.join(folder, file));
  if (found.state !== 'text') return found;
  const { path } = await workspace.resolve(folder, 'read');
  if (found.path.startsWith(`${path}/`)) return found;
  return { state: 'unusable', reason: 'it leads out of its folder' };
}

/** The files of a skill's folder beside its text, by their paths in it. */
export async function filesBeside({ workspace, folder, file }: SkillFolder): Promise<string[]> {
  const found = await listBelow({ workspace, folder }, SKILL_READ_LIMITS.maxDepth);
  return found.filter((path) => path !== file).slice(0, SKILL_READ_LIMITS.maxFiles);
}

const SKILL_FILE = 'SKILL.md';

type Top = Pick<SkillFolder, 'workspace' | 'folder'>;

interface FoundPlace {
  readonly path: string;
  readonly name: string;
}

async function open(
  { folder, owners }: SkillPlace,
  workspace: Workspace,
): Promise<Top | undefined> {
  if (owners === undefined) return { workspace, folder };
  const own = await openOwners(owners);
  return own && { workspace: own, folder: '.' };
}

/** Undefined where there is no such folder, and for the home folder itself. */
async function openOwners(folder: string): Promise<Workspace | undefined> {
  try {
    return await Workspace.open(folder);
  } catch (error) {
    if (error instanceof WorkspaceError) return undefined;
    throw error;
  }
}

/**
 * Claude Code looks into the folders of its place alone; others look further down. A skill has no skills in it. Each link
 * counts: reading it shows where it leads.
 */
async function skillFiles(top: Top, { family }: SkillPlace): Promise<FoundPlace[]> {
  const depth = family === 'claude' ? 1 : SKILL_READ_LIMITS.maxDepth;
  const folders = [''];
  const found: string[] = [];
  // The loop also visits the folders that are added here.
  for (const folder of folders) {
    const level = folder === '' ? 0 : folder.split('/').length;
    const entries = await entriesOf(top, folder);
    if (level > 0 && entries.some(({ name }) => name === SKILL_FILE)) found.push(folder);
    else if (level < depth) {
      const named = (wanted: string) =>
        entries.filter(({ kind }) => kind === wanted).map(({ name }) => posix.join(folder, name));
      found.push(...named('link'));
      folders.push(...named('folder').slice(0, SKILL_READ_LIMITS.maxFolders - folders.length));
    }
  }
  return found
    .sort()
    .map((folder) => ({ path: `${folder}/${SKILL_FILE}`, name: posix.basename(folder) }));
}

/** `a/b.md` is the command `a:b`. */
async function commandFiles(top: Top): Promise<FoundPlace[]> {
  const paths = await listBelow(top, SKILL_READ_LIMITS.maxDepth);
  return paths
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, name: path.slice(0, -'.md'.length).replaceAll('/', ':') }));
}

async function listBelow(top: Top, depth: number): Promise<string[]> {
  const folders = [''];
  const files: string[] = [];
  for (const folder of folders) {
    for (const { name, kind } of await entriesOf(top, folder)) {
      const path = posix.join(folder, name);
      if (kind !== 'folder') files.push(path);
      else if (path.split('/').length < depth && folders.length < SKILL_READ_LIMITS.maxFolders) {
        folders.push(path);
      }
    }
  }
  return files.sort();
}

type Entries = Awaited<ReturnType<typeof readEntries>>;

/** Empty for a folder that is not there, or leads outside. */
async function entriesOf({ workspace, folder }: Top, below: string): Promise<Entries> {
  try {
    return await readEntries(await workspace.resolve(posix.join(folder, below), 'read'));
  } catch (error) {
    if (error instanceof ToolFailure) return [];
    throw error;
  }
}
