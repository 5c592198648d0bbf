/** Notes at the server whether this conversation has a run in progress, so that the server's next start wakes it. */
import type { Env } from '../env.ts';
import { runsOf } from '../objects.ts';
import { inTime, reach } from '../reach.ts';
import type { RunLog } from './log/run-log.ts';

/** The runs are the truth: a note that a crash loses is made again by the next instance, whom the alarm wakes. */
export class RunNote {
  readonly #env: Env;
  readonly #id: string;
  readonly #log: RunLog;
  /** What the server has; null while unknown. */
  #noted: boolean | null;
  #noting: Promise<void> | null = null;

  constructor(env: Env, id: string, log: RunLog) {
    this.#env = env;
    this.#id = id;
    this.#log = log;
    this.#noted = log.current ? null : false;
  }

  /** To be called when the server has woken the conversation: its note may be older than the end of the run. */
  woken(): void {
    this.#noted = true;
    void this.look();
  }

  /** Notes a change. Resolves when the server has it. Never rejects: without the note, the alarm comes later. */
  look(): Promise<void> {
    this.#noting ??= this.#note()
      .catch(() => {
        this.#noted = null;
      })
      .finally(() => {
        this.#noting = null;
      });
    return this.#noting;
  }

  /** One after the other: of two calls at once, the server could take the second one first. */
  async #note(): Promise<void> {
    if (!this.#env.RUNS) return;
    for (let is = this.#isInProgress; is !== this.#noted; is = this.#isInProgress) {
      this.#noted = null;
      const note = async () => await runsOf(this.#env)?.note(this.#id, is);
      await reach<void>(() => inTime<void>(note()));
      this.#noted = is;
    }
  }

  get #isInProgress(): boolean {
    return this.#log.current !== undefined;
  }
}
