/** Runs attacks side by side on one workspace, in an order that a seed decides. */
import { join } from 'node:path';
import { BackgroundProcesses, type Confinement, runCommand } from '../../packages/sandbox/index.ts';
import type { Random } from '../fuzz/random.ts';
import { type Attack, type Beside, LOOT, makeRoom } from './attacks.ts';

export interface AttackResult {
  readonly name: string;
  attempts: number;
  /** Attempts whose command did not run to its end. */
  failed: number;
  /** Attempts that printed what no command may read. */
  hits: number;
}

/** Commands at once: as many as keep a small machine busy. */
const SIDE_BY_SIDE = 3;
/** Programs at once that exchange names: more would only slow each other down. */
const SWAPPERS = 3;
/** Attempts until other programs exchange names. */
const ATTEMPTS_PER_SHIFT = 20;
const ATTEMPT_MS = 30_000;
const END = 'end of the attempt';

export class Siege {
  readonly #confinement: Confinement;
  /** The person's home folder. */
  readonly #home: string;
  readonly #workspace: string;
  readonly #random: Random;
  readonly #programs: string;
  readonly #besides = new Map<number, Beside>();
  /** The attacks of this round that are still to come. */
  #rest: number[] = [];
  readonly #signal = new AbortController().signal;

  /** `base` holds the folders `home`, `workspace` and `programs`. */
  constructor(confinement: Confinement, base: string, random: Random) {
    this.#confinement = confinement;
    this.#home = join(base, 'home');
    this.#workspace = join(base, 'workspace');
    this.#programs = join(base, 'programs');
    this.#random = random;
  }

  /** The attack's own folder, relative to the workspace. */
  static folderOf(index: number): string {
    return `attack-${index}`;
  }

  async run(attacks: readonly Attack[], limitMs: number): Promise<AttackResult[]> {
    const results = attacks.map(({ name }) => ({ name, attempts: 0, failed: 0, hits: 0 }));
    for (const [index, { prepare }] of attacks.entries()) {
      if (prepare !== undefined) await this.#command(index, prepare);
    }
    for (const [index, { start }] of attacks.entries()) {
      if (start) this.#besides.set(index, await start(this.#cwd(index), this.#programs));
    }
    const deadline = performance.now() + limitMs;
    while (performance.now() < deadline) await this.#shift(attacks, results, deadline);
    for (const beside of this.#besides.values()) beside.end();
    return results;
  }

  /** Runs some swapping programs and, beside them, attempts of all kinds. */
  async #shift(
    attacks: readonly Attack[],
    results: readonly AttackResult[],
    deadline: number,
  ): Promise<void> {
    const swappers = new BackgroundProcesses();
    try {
      for (let count = 0; count < SWAPPERS; count++) await this.#startSwapper(attacks, swappers);
      await Promise.all(
        Array.from({ length: SIDE_BY_SIDE }, async () => {
          for (let turn = 0; turn < ATTEMPTS_PER_SHIFT && performance.now() < deadline; turn++) {
            const index = this.#draw(attacks.length);
            await this.#attempt(index, attacks[index], results[index]);
          }
        }),
      );
    } finally {
      await swappers.endAll();
    }
  }

  /** Each attack comes once before any comes again, so that a short siege leaves none out. */
  #draw(attacks: number): number {
    if (this.#rest.length === 0) this.#rest = Array.from({ length: attacks }, (_, at) => at);
    const [index = 0] = this.#rest.splice(this.#random.below(this.#rest.length), 1);
    return index;
  }

  async #startSwapper(attacks: readonly Attack[], swappers: BackgroundProcesses): Promise<void> {
    const index = this.#random.below(attacks.length);
    const swapper = attacks[index]?.swapper;
    if (swapper === undefined) return;
    const command = `exec perl -e '${swapper}'`;
    const about = {
      conversationId: 'siege',
      command,
      title: command,
      folder: '',
      permissions: [],
      hosts: [],
    };
    const options = { about, onOutput: () => {}, signal: this.#signal };
    await this.#confinement.start(
      { command, cwd: this.#cwd(index), permissions: [], hosts: [], conversationId: 'siege' },
      ({ launch }) => swappers.start(launch, options),
    );
  }

  async #attempt(
    index: number,
    attack: Attack | undefined,
    result: AttackResult | undefined,
  ): Promise<void> {
    if (attack === undefined || result === undefined) return;
    const number = result.attempts++;
    try {
      const output = await this.#command(index, attack.attempt(number));
      if (output.includes(LOOT)) result.hits++;
      if (!output.includes(END)) result.failed++;
      if ((await attack.after?.(this.#cwd(index))) === true) result.hits++;
      if (await this.#besides.get(index)?.isHit()) result.hits++;
      await makeRoom(this.#cwd(index), number);
    } catch {
      // The sandbox could not be made, so nothing was tried.
      result.failed++;
    }
  }

  async #command(index: number, script: string): Promise<string> {
    // A command may have another HOME. The attacks want the person's home folder.
    const command = `HOME='${this.#home}'; { ${script}; } 2>/dev/null; echo "${END}"`;
    const options = { timeoutMs: ATTEMPT_MS, onOutput: () => {}, signal: this.#signal };
    const { output } = await this.#confinement.start(
      { command, cwd: this.#cwd(index), permissions: [], conversationId: 'siege' },
      ({ launch }) => runCommand(launch, options),
    );
    return output;
  }

  #cwd(index: number): string {
    return join(this.#workspace, Siege.folderOf(index));
  }
}
