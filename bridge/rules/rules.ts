/** Reads the rules for the model: the workspace's files and the owner's own. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logEvent } from '../../machine/log.ts';
import type { Workspace } from '../../packages/workspace/index.ts';
import { CONTEXT_LIMITS } from '../../shared/limits.ts';
import type { RuleSet } from '../../shared/wire/rules.ts';
import { findCandidates } from './find.ts';
import { OWNERS_FILE, RuleGathering } from './gathering.ts';
import { RULE_READ_LIMITS } from './limits.ts';
import { RuleTexts } from './texts.ts';

export interface RuleLook {
  /** Whether the owner's policy lets the path, relative to the workspace, be named, and be read, without a question. */
  readonly mayName: (path: string) => boolean;
  readonly mayRead: (path: string) => boolean;
  /** The workspace's files, hidden ones too, where others need them. */
  readonly listed?: Promise<readonly string[]> | undefined;
  readonly signal: AbortSignal;
}

/** Reads only files that have changed since the last look. One look at a time. */
export class Rules {
  readonly #workspace: Workspace;
  readonly #ownersFolders: readonly string[];
  readonly #texts = new RuleTexts();
  #logged: ReadonlySet<string> = new Set();

  /** Each of the owner's folders may have a `rules.md`: first the one for all projects, then the project's. */
  constructor(workspace: Workspace, ownersFolders: readonly string[]) {
    this.#workspace = workspace;
    this.#ownersFolders = ownersFolders;
  }

  /**
   * All rules, within the bounds of {@link RuleSet}. A file that cannot be used is among `leftOut`, unless the policy
   * hides its name. Undefined where the disk does not answer in time.
   * @throws the signal's reason once it has aborted.
   */
  look(look: RuleLook): Promise<RuleSet | undefined> {
    return withinLookTime(this.#read(look));
  }

  async #read({ mayName, mayRead, listed, signal }: RuleLook): Promise<RuleSet> {
    const workspace = this.#workspace.showing((path) => mayName(path) && mayRead(path));
    const { found, isComplete } = await findCandidates(workspace, signal, listed);
    const gathering = new RuleGathering(workspace, this.#texts);
    await gathering.addOwners(this.#ownersFolders.map((folder) => join(folder, OWNERS_FILE)));
    const named = found.filter(({ path }) => mayName(path));
    const read = named.slice(0, RULE_READ_LIMITS.maxCandidates);
    const texts = await Promise.all(read.map(({ path }) => this.#texts.read(workspace, path)));
    signal.throwIfAborted();
    if (read.length < named.length) {
      gathering.leaveOut('.', `${named.length - read.length} more rule files are not read`);
    }
    if (!isComplete) gathering.leaveOut('.', 'the folders below could not be listed in time');
    for (const [index, candidate] of read.entries()) gathering.add(candidate, texts[index]);
    const rules = await gathering.end();
    this.#texts.endLook();
    this.#logged = logNew(gathering.problems, this.#logged);
    return rules;
  }
}

/** Logs the problems that are not among those of the look before. Returns all of this look. */
export function logNew(
  problems: readonly string[],
  before: ReadonlySet<string>,
): ReadonlySet<string> {
  for (const problem of problems) {
    if (!before.has(problem)) logEvent({ event: 'rule_misread', message: problem });
  }
  return new Set(problems);
}

/** Undefined where the disk does not answer within the time of a look. */
export async function withinLookTime<Read>(reading: Promise<Read>): Promise<Read | undefined> {
  const time = new AbortController();
  const up = sleep(CONTEXT_LIMITS.lookTimeoutMs, undefined, { signal: time.signal });
  try {
    return await Promise.race([reading, up.catch(() => undefined)]);
  } finally {
    time.abort();
  }
}
