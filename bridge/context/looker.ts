/** Looks at the workspace on request, and never by itself. */

import { listInTime } from '../../packages/code-index/index.ts';
import type { Confinement } from '../../packages/sandbox/index.ts';
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import { readMachineContext } from './context.ts';

/** The workspace to look at, and the limits of the look. */
export interface Looked {
  readonly root: string;
  readonly confinement: Pick<Confinement, 'confineLook'>;
  /** Asked once for each look, so that all parts of it follow the same policy. */
  readonly readShowable: () => Promise<ShowableNames>;
  readonly pieces: readonly LookPiece[];
}

/**
 * Reads a part of what the model learns of the machine; `listed` has the workspace's files, hidden ones too. A part that is
 * undefined, or that cannot be read, stays out: the model keeps what it knows.
 */
export type LookPiece = (
  showable: ShowableNames,
  listed: Promise<readonly string[]>,
) => Promise<{ readonly [Part in keyof MachineContext]?: MachineContext[Part] | undefined }>;

/** What the policy lets the model see of a path, relative to the workspace. */
export interface ShowableNames {
  readonly mayName: (name: string) => boolean;
  /** Whether a path may be named where nothing asked for it. */
  readonly mayVolunteer: (name: string) => boolean;
  /** Whether the model could read the file without a question. */
  readonly mayRead: (name: string) => boolean;
}

/** Makes one look at a time, however many callers ask. */
export class Looker {
  readonly #looked: Looked;
  readonly #signal: AbortSignal;
  #current: Promise<MachineContext> | null = null;
  #next: Promise<MachineContext> | null = null;

  constructor(looked: Looked, signal: AbortSignal) {
    this.#looked = looked;
    this.#signal = signal;
  }

  /**
   * A look that begins after the call. All callers during a running look share the next one. Rejects only when the
   * bridge ends.
   */
  look(): Promise<MachineContext> {
    if (!this.#current) return this.#begin();
    const begin = () => this.#begin();
    this.#next ??= this.#current.then(begin, begin);
    return this.#next;
  }

  #begin(): Promise<MachineContext> {
    this.#next = null;
    const look = this.#read().finally(() => {
      if (this.#current === look) this.#current = null;
    });
    this.#current = look;
    return look;
  }

  async #read(): Promise<MachineContext> {
    const { root, confinement, readShowable, pieces } = this.#looked;
    const listed = listInTime(root, this.#signal);
    listed.catch(() => undefined); // What needs it fails with it.
    const reading = readShowable();
    const mayName = reading.then(({ mayVolunteer }) => mayVolunteer);
    const how = { confine: confinement.confineLook, mayName, listed };
    const machine = readMachineContext(root, this.#signal, how);
    machine.catch(() => undefined); // Awaited below.
    const showable = await reading;
    const [context, ...parts] = await Promise.all([
      machine,
      ...pieces.map((piece) => this.#partOf(piece, showable, listed)),
    ]);
    return Object.assign(context, ...parts);
  }

  async #partOf(
    piece: LookPiece,
    showable: ShowableNames,
    listed: Promise<readonly string[]>,
  ): Promise<Partial<MachineContext>> {
    try {
      const parts = Object.entries(await piece(showable, listed));
      return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
    } catch {
      this.#signal.throwIfAborted();
      return {}; // The disk failed. The tools will say why when they are used.
    }
  }
}
