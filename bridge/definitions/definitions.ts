/** Finds and reads the modes and agents that files of the workspace define. */

import { ToolFailure } from '../../machine/failure.ts';
import { readEntries, type Workspace } from '../../packages/workspace/index.ts';
import { DEFINITION_LIMITS, REQUEST_LIMITS } from '../../shared/limits.ts';
import { shorten } from '../../shared/text/plain-sight.ts';
import type {
  AgentDefinition,
  DefinitionSet,
  ModeDefinition,
} from '../../shared/wire/definitions.ts';
import { logNew, type RuleLook, withinLookTime } from '../rules/rules.ts';
import { RuleTexts } from '../rules/texts.ts';
import { type Parsed, parseAgent, parseMode } from './parse.ts';

/** In their order: of two files with one name, the first counts. */
const MODE_FOLDERS = ['.drawbridge/modes'];
const AGENT_FOLDERS = ['.drawbridge/agents', '.claude/agents'];

/** Reads only files that have changed since the last look. One look at a time. */
export class Definitions {
  readonly #workspace: Workspace;
  readonly #texts = new RuleTexts();
  #logged: ReadonlySet<string> = new Set();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /**
   * All definitions, within the bounds of {@link DefinitionSet}. A file that cannot be used is among `leftOut`, unless
   * the policy hides its name. Undefined where the disk does not answer in time.
   * @throws the signal's reason once it has aborted.
   */
  look(look: RuleLook): Promise<DefinitionSet | undefined> {
    return withinLookTime(this.#read(look));
  }

  async #read({ mayName, mayRead, signal }: RuleLook): Promise<DefinitionSet> {
    const workspace = this.#workspace.showing((path) => mayName(path) && mayRead(path));
    const pathsIn = async (folders: readonly string[]) =>
      (await listMarkdown(workspace, folders)).filter(mayName);
    const [modePaths, agentPaths] = await Promise.all([
      pathsIn(MODE_FOLDERS),
      pathsIn(AGENT_FOLDERS),
    ]);
    const collecting = new Collecting((path) => this.#texts.read(workspace, path));
    const { maxModes, maxAgents } = DEFINITION_LIMITS;
    const modes = await collecting.collect(modePaths, parseMode, maxModes);
    const agents = await collecting.collect(agentPaths, parseAgent, maxAgents);
    signal.throwIfAborted();
    this.#texts.endLook();
    const problems = collecting.leftOut.map(({ path, reason }) => `${path}: ${reason}`);
    this.#logged = logNew(problems, this.#logged);
    return { modes, agents, leftOut: collecting.leftOut };
  }
}

/** Counts what one look has read, over both kinds of definitions. */
class Collecting {
  readonly leftOut: DefinitionSet['leftOut'] = [];
  readonly #read: (path: string) => ReturnType<RuleTexts['read']>;
  #files: number = DEFINITION_LIMITS.maxFiles;
  #chars: number = DEFINITION_LIMITS.maxTotalChars;

  constructor(read: (path: string) => ReturnType<RuleTexts['read']>) {
    this.#read = read;
  }

  async collect<Definition extends ModeDefinition | AgentDefinition>(
    paths: readonly string[],
    parse: (path: string, text: string) => Parsed<Definition>,
    most: number,
  ): Promise<Definition[]> {
    const found: Definition[] = [];
    for (const path of paths) {
      if (this.#files-- <= 0) this.#leaveOut(path, TOO_MANY);
      else this.#add(found, path, await this.#parse(path, parse), most);
    }
    return found;
  }

  async #parse<Definition>(
    path: string,
    parse: (path: string, text: string) => Parsed<Definition>,
  ): Promise<Parsed<Definition> | null> {
    const found = await this.#read(path);
    if (found.state === 'none') return null;
    return found.state === 'unusable' ? { reason: found.reason } : parse(path, found.text);
  }

  #add<Definition extends ModeDefinition | AgentDefinition>(
    found: Definition[],
    path: string,
    parsed: Parsed<Definition> | null,
    most: number,
  ): void {
    if (parsed === null) return;
    if ('reason' in parsed) return this.#leaveOut(path, parsed.reason);
    const twin = found.find(({ name }) => name === parsed.name);
    if (twin) return this.#leaveOut(path, `${twin.path} has the same name`);
    if (found.length === most) return this.#leaveOut(path, TOO_MANY);
    if (parsed.text.length > this.#chars) {
      return this.#leaveOut(path, 'all definitions together are too long');
    }
    this.#chars -= parsed.text.length;
    found.push(parsed);
  }

  #leaveOut(path: string, reason: string): void {
    if (this.leftOut.length === DEFINITION_LIMITS.maxLeftOut) return;
    if (path.length > REQUEST_LIMITS.maxPathChars) return;
    this.leftOut.push({ path, reason: shorten(reason, DEFINITION_LIMITS.maxNoteChars) });
  }
}

const TOO_MANY = 'there are too many definitions';

/** The `.md` files of the folders, whatever kind of entry has the name: reading them shows what is wrong. */
async function listMarkdown(workspace: Workspace, folders: readonly string[]): Promise<string[]> {
  const paths = await Promise.all(
    folders.map(async (folder) => {
      try {
        const entries = await readEntries(await workspace.resolve(folder, 'read'));
        return entries
          .filter(({ name, kind }) => name.endsWith('.md') && kind !== 'folder')
          .map(({ name }) => `${folder}/${name}`);
      } catch (error) {
        if (error instanceof ToolFailure) return []; // No such folder, or one that leads outside.
        throw error;
      }
    }),
  );
  return paths.flat();
}
