/** The word of the machine's owner at any moment: rule files, what people answered, and whether the folder is trusted. */
import type { MachinePolicy } from '../../shared/wire/policy.ts';
import { AllowedSites } from '../web/sites.ts';
import type { Distrust } from './distrust.ts';
import {
  createConnectionJudge,
  createJudge,
  type Judge,
  type JudgeFacts,
  type JudgeSurroundings,
  readFindable,
  readPageRules,
  readShowable,
  readTrust,
  type Showable,
} from './judge.ts';
import { AnsweredRules } from './lasting.ts';
import { reportPolicy } from './policy-report.ts';

interface OwnersFacts extends Pick<JudgeFacts, 'isConfined' | 'opensHosts' | 'grantOf'> {
  readonly distrust: Distrust;
}

/** One bridge's. Every method reads the files anew, so that a changed rule counts at once. */
export class OwnersWord {
  /** Gets the sites that people say yes to. */
  readonly sites = new AllowedSites();
  /** Gets the rules that people's answers make for a conversation. */
  readonly answered = new AnsweredRules();
  readonly distrust: Distrust;
  readonly #surroundings: JudgeSurroundings;
  readonly #facts: JudgeFacts;

  constructor(surroundings: JudgeSurroundings, { distrust, ...facts }: OwnersFacts) {
    this.distrust = distrust;
    this.#surroundings = surroundings;
    this.#facts = {
      ...facts,
      isDistrusted: this.isDistrusted,
      isSiteAllowed: (conversationId, site) => this.sites.has(conversationId, site),
      answeredIn: (conversationId) => this.answered.of(conversationId),
    };
  }

  /** Whether the person's editor does not trust the folder: then no program of it is started either. */
  readonly isDistrusted = (): boolean => this.distrust.isKept;

  /** Judges calls. `folder` is that of a worktree, which stands for the workspace in calls. */
  judgeIn(folder?: string): Judge {
    return createJudge(this.#surroundings, { ...this.#facts, ...(folder && { folder }) });
  }

  /** Judges the connections of commands that run. */
  judgeConnections(): ReturnType<typeof createConnectionJudge> {
    return createConnectionJudge(this.#surroundings, this.#facts);
  }

  /** See {@link readShowable}. */
  readonly readShowable = (): Promise<Showable> => readShowable(this.#surroundings);

  /** See {@link readFindable}. */
  readonly readFindable = (): Promise<Showable> =>
    readFindable(this.#surroundings, this.isDistrusted);

  /** See {@link readPageRules}. */
  readonly readPageRules = (conversationId: string): ReturnType<typeof readPageRules> =>
    readPageRules(this.#surroundings, this.#facts, conversationId);

  /** See {@link readTrust}. */
  readonly readTrust = (): ReturnType<typeof readTrust> => readTrust(this.#surroundings);

  /** For people on other devices. Does not reject. */
  readonly report = (): Promise<MachinePolicy> => reportPolicy(this.#surroundings);
}
