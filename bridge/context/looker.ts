/** Looks at the workspace on request, and never by itself. */
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import type { Confinement } from '../sandbox/launch/confinement.ts';
import { listInTime } from '../search/file-list.ts';
import { readMachineContext } from './context.ts';

/** The workspace to look at, and the limits of the look. */
export interface Looked {
  readonly root: string;
  readonly confinement: Confinement;
  /** Asked once for each look, so that all parts of it follow the same policy. */
  readonly readShowable: () => Promise<ShowableNames>;
  /** What an editor shows. Undefined without one. Never rejects. */
  readonly readEditor?: (showable: ShowableNames) => Promise<MachineContext['editor']>;
  /** The rules for the model. Undefined where they cannot be read. Rejects only when the bridge ends. */
  readonly readRules?: (
    showable: ShowableNames,
    listed: Promise<readonly string[]>,
  ) => Promise<MachineContext['rules']>;
  /** The workspace's own modes and agents, as `readRules`. */
  readonly readDefinitions?: (showable: ShowableNames) => Promise<MachineContext['definitions']>;
  /** The skills and commands, as `readRules`. */
  readonly readSkills?: (showable: ShowableNames) => Promise<MachineContext['skills']>;
}

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
    const { root, confinement, readShowable, readEditor, readRules, readDefinitions, readSkills } =
      this.#looked;
    const listed = listInTime(root, this.#signal);
    listed.catch(() => undefined); // What needs it fails with it.
    const reading = readShowable();
    const mayName = reading.then(({ mayVolunteer }) => mayVolunteer);
    const how = { confine: confinement.confineLook, mayName, listed };
    const machine = readMachineContext(root, this.#signal, how);
    machine.catch(() => undefined); // Awaited below.
    const showable = await reading;
    const [context, editor, rules, definitions, skills] = await Promise.all([
      machine,
      readEditor?.({ ...showable, mayName: showable.mayVolunteer }),
      readRules?.(showable, listed),
      readDefinitions?.(showable),
      readSkills?.(showable),
    ]);
    return {
      ...context,
      ...(editor && { editor }),
      ...(rules && { rules }),
      ...(definitions && { definitions }),
      ...(skills && { skills }),
    };
  }
}
