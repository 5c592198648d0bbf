/** Runs the companion of a bridge, as long as its owner has turned it on. */
import { isAbsolute } from 'node:path';
import { lookEvery } from '../../../machine/keep-alive.ts';
import { logEvent, logTrouble } from '../../../machine/log.ts';
import {
  CompanionServer,
  type OwnCompanionOptions,
  removeLeftover,
  SentContext,
} from '../companion/index.ts';
import { OWN_NAME } from '../ide/discovery/families.ts';
import type { EditorView } from '../ide/link/link.ts';
import { fromOne, type OpenFile } from '../ide/link/wire.ts';
import { GUEST_LIMITS } from './limits.ts';
import {
  claimCompanion,
  readEnabled,
  readRunning,
  removeRunning,
  writeRunning,
} from './setting.ts';

/** Where a companion runs. The host writes and removes files in `stateDir`, which one bridge has at a time. */
export interface CompanionPlace extends Pick<OwnCompanionOptions, 'onDiff' | 'discovery'> {
  readonly stateDir: string;
  /** Of the workspace, absolute. */
  readonly root: string;
}

/** A bridge that looks for its editor passes over a companion of this name. */
const DRAWBRIDGE = { name: OWN_NAME, displayName: 'Drawbridge' };

/** Runs until {@link end}. A companion that cannot start is tried again; the bridge does not wait for it. */
export class CompanionHost {
  readonly #place: CompanionPlace;
  readonly #ended = new AbortController();
  readonly #claim: Disposable | undefined;
  readonly #watching: Promise<void>;
  #running: { readonly companion: CompanionServer; readonly startedAt: string } | undefined;
  #context: SentContext | undefined;
  /** What was written last. */
  #published = '';
  #reported = '';

  constructor(place: CompanionPlace) {
    this.#place = place;
    this.#claim = claimOf(place.stateDir);
    this.#watching = this.#watch();
  }

  /** The editor's context, for each CLI that is connected now or later. @throws {ZodError} if a CLI would refuse it. */
  contextChanged(context: SentContext): void {
    this.#context = SentContext.parse(context);
    this.#running?.companion.contextChanged(this.#context);
  }

  /** Ends the companion. Resolves when its files and its port are gone. */
  async end(): Promise<void> {
    this.#ended.abort();
    await this.#watching;
    await this.#stop();
    this.#claim?.[Symbol.dispose]();
  }

  async #watch(): Promise<void> {
    await this.#try(() => removeLeftovers(this.#place.stateDir));
    const look = () => this.#try(() => this.#look());
    await lookEvery(GUEST_LIMITS.watchMs, look, this.#ended.signal);
  }

  async #look(): Promise<void> {
    const isWanted = await readEnabled(this.#place.stateDir);
    if (this.#ended.signal.aborted) return;
    if (!isWanted) return await this.#stop();
    if (this.#running === undefined) await this.#start();
    this.#publish();
  }

  async #start(): Promise<void> {
    const { root, stateDir: _, ...options } = this.#place;
    const companion = await CompanionServer.start({
      ...options,
      ide: DRAWBRIDGE,
      roots: [root],
      onGuest: ({ program }, change) => logGuest(program, change),
    });
    if (this.#context) companion.contextChanged(this.#context);
    this.#running = { companion, startedAt: new Date().toISOString() };
    const message = `The companion serves Gemini CLI and Qwen Code at port ${companion.port}.`;
    logEvent({ event: 'companion_started', message });
    for (const problem of companion.problems) {
      logEvent({ event: 'companion_failed', message: problem });
    }
  }

  async #stop(): Promise<void> {
    if (this.#running === undefined) return;
    const { companion } = this.#running;
    this.#running = undefined;
    this.#published = '';
    await this.#try(async () => removeRunning(this.#place.stateDir));
    await companion.close();
    logEvent({ event: 'companion_ended', message: 'The companion has stopped.' });
  }

  /** Writes how to reach the companion, where that has changed. */
  #publish(): void {
    if (this.#running === undefined) return;
    const { companion, startedAt } = this.#running;
    const { port, environment: variables, discoveryFiles, problems } = companion;
    const running = { port, startedAt, variables, discoveryFiles, problems: [...problems] };
    const text = JSON.stringify(running);
    if (text === this.#published) return;
    writeRunning(this.#place.stateDir, running);
    this.#published = text;
  }

  /** Logs a failure, the same one only once: the disk may be full, or the folder read-only. */
  async #try(step: () => Promise<void>): Promise<void> {
    try {
      await step();
      this.#reported = '';
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (text !== this.#reported) logTrouble({ event: 'companion_failed' }, 'The companion', text);
      this.#reported = text;
    }
  }
}

/** The editor's context for guests, who have no editor beside our companion: no open files without an editor. Leaves out what a guest would refuse. */
export function guestContext(view: EditorView | undefined): SentContext {
  const files = view?.openFiles ?? [];
  const openFiles = files.filter(({ path, timestamp }) => isAbsolute(path) && timestamp >= 0);
  return { openFiles: openFiles.map(toGuests) };
}

function toGuests({ path, timestamp, isActive, cursor, selectedText }: OpenFile) {
  const place = cursor && { line: fromOne(cursor.line), character: fromOne(cursor.character) };
  return {
    path,
    timestamp,
    ...(isActive !== undefined && { isActive }),
    ...(place && { cursor: place }),
    ...(selectedText !== undefined && { selectedText }),
  };
}

function logGuest(program: string, change: 'came' | 'left'): void {
  if (change === 'came') {
    logEvent({ event: 'guest_connected', message: `${program} has connected to the companion.` });
  } else {
    logEvent({ event: 'guest_left', message: `${program} has left the companion.` });
  }
}

/** Without the lock, `drawbridge companion` says that no bridge runs. The companion works. */
function claimOf(stateDir: string): Disposable | undefined {
  try {
    const claim = claimCompanion(stateDir);
    return claim.isTaken ? claim : undefined;
  } catch (error) {
    logTrouble({ event: 'companion_failed' }, 'The companion could not take its lock', error);
    return undefined;
  }
}

/** Of a bridge that was killed. A CLI would try the port of such a file, where another program may answer now. */
async function removeLeftovers(stateDir: string): Promise<void> {
  const left = await readRunning(stateDir).catch(() => undefined);
  if (left) removeLeftover(left.discoveryFiles);
  removeRunning(stateDir);
}
