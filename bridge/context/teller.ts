/** Keeps the edge's picture of the workspace fresh: looks again when calls may have changed it, tells what is new. */
import type { MachineContext } from '../../shared/tunnel.ts';
import type { Confinement } from '../sandbox/confinement.ts';
import { readMachineContext } from './context.ts';

/** What is looked at, and how. */
export interface Looked {
  readonly root: string;
  readonly confinement: Confinement;
  /** Which paths the rules let be named at this moment, relative to the workspace. */
  readonly readMayName: () => Promise<(name: string) => boolean>;
}

export class ContextTeller {
  readonly #looked: Looked;
  readonly #signal: AbortSignal;
  readonly #tell: (context: MachineContext) => void;
  /** What the edge has, as JSON. */
  #told = '';
  #isLooking = false;
  #isStale = false;

  /** `tell` sends it now or not at all: a new connection begins with a fresh look anyway. */
  constructor(looked: Looked, tell: (context: MachineContext) => void, signal: AbortSignal) {
    this.#looked = looked;
    this.#tell = tell;
    this.#signal = signal;
  }

  /** A fresh look, for a hello. Rejects only when a signal aborts. */
  async look(signal: AbortSignal): Promise<MachineContext> {
    const { root, confinement, readMayName } = this.#looked;
    const mayName = await readMayName();
    const look = { confine: confinement.confineLook, mayName };
    const context = await readMachineContext(root, signal, look);
    this.#told = JSON.stringify(context);
    return context;
  }

  /** The workspace may have changed. Returns at once; while a look is under way, one more follows it. */
  refresh(): void {
    this.#isStale = true;
    if (!this.#isLooking) void this.#lookAgain();
  }

  async #lookAgain(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        const told = this.#told;
        const context = await this.look(this.#signal);
        if (this.#told !== told) this.#tell(context);
      }
    } catch {
      // The bridge is ending: nobody needs to know any more.
    } finally {
      this.#isLooking = false;
    }
  }
}
