/** The language servers of one folder: each starts when it is first needed, and ends when it is idle. */
import { extname } from 'node:path';
import { ToolFailure } from '../../machine/failure.ts';
import { Lanes } from '../../machine/lanes.ts';
import { within } from '../../machine/within.ts';
import { FileChanges, installationStamp } from './changes.ts';
import { KNOWN_SERVERS, type ServerKind } from './known-servers.ts';
import {
  type AskedFile,
  type BeginProgram,
  type CheckedFile,
  type CheckedTexts,
  LanguageServer,
  type LookTimes,
  NoAnswer,
} from './language-server.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';
import type { ServerChoice } from './own-list.ts';

export interface ServersPlace {
  /** Absolute and resolved. */
  readonly root: string;
  readonly begin: BeginProgram;
  readonly readChoice: () => Promise<ServerChoice>;
  /** Why no program of this folder may run without a question; undefined where it may. */
  readonly whyNot: () => string | undefined;
}

/** What a server said of the texts of one file, or why it said nothing. */
export type CheckLook =
  | ({ readonly state: 'checked'; readonly by: string } & CheckedTexts)
  | { readonly state: 'not_checked'; readonly reason: string };

/** Rejects when its signal aborts, or with a {@link ToolFailure}. */
export type FindImporters = (signal: AbortSignal) => Promise<readonly CheckedFile[]>;

interface RunningLanguageServer {
  readonly kind: ServerKind;
  readonly server: Promise<LanguageServer>;
  /** The same, once it is there. */
  started?: LanguageServer;
  /** Of the project when it began to start. */
  readonly installation: string;
  /** Aborted where it shall end: it may still start. */
  readonly stopped: AbortController;
  /** Checks in a row that had no answer in time. */
  timeouts: number;
  /** Whether it has checked an edit. */
  isWarm: boolean;
  idle?: NodeJS.Timeout;
}

/** Of a kind that could not run: until when it is not tried again (as performance.now gives it), and why. */
interface FailedServer {
  readonly untilMs: number;
  /** Another one means that something was installed, which is tried at once. */
  readonly installation: string;
  readonly reason: string;
}

export class LanguageServers {
  readonly #place: ServersPlace;
  readonly #lanes = new Lanes();
  readonly #ended = new AbortController();
  readonly #running = new Map<string, RunningLanguageServer>();
  readonly #failed = new Map<string, FailedServer>();
  readonly #changes: FileChanges;

  constructor(place: ServersPlace) {
    this.#place = place;
    const extensions = KNOWN_SERVERS.flatMap(({ files }) => Object.keys(files));
    this.#changes = new FileChanges(place.root, extensions);
  }

  /**
   * Null for a file that no server is for. `findImporters` finds files that are checked with it, if it is quick enough.
   * Rejects only when the signal aborts.
   */
  async look(
    file: AskedFile,
    maxMs: number,
    signal: AbortSignal,
    findImporters: FindImporters = async () => [],
  ): Promise<CheckLook | null> {
    const choice = await this.#place.readChoice();
    const isKnown = kindOf(file.path, { state: 'known', kinds: KNOWN_SERVERS }) !== undefined;
    if (choice.state === 'none') return isKnown ? notChecked(choice.reason) : null;
    const kind = kindOf(file.path, choice);
    if (kind === undefined) return null;
    const reason = this.#place.whyNot() ?? this.#failureOf(kind) ?? sizeProblem(file);
    if (reason !== undefined) return notChecked(`${kind.name}: ${reason}`);
    const late = AbortSignal.timeout(maxMs);
    const bound = AbortSignal.any([signal, late, this.#ended.signal]);
    // A server that has seen no edit yet reads the importers first.
    const { isWarm } = this.#running.get(kind.name) ?? {};
    const maxImportersMs = isWarm ? DIAGNOSTICS_LIMITS.maxImportersMs : maxMs;
    const times = { late: AbortSignal.timeout(maxImportersMs), signal: bound };
    const importers = importersInTime(findImporters, times);
    importers.catch(() => {}); // Awaited where it counts.
    // Before a start: a server that starts later reads the files itself.
    await this.#passOnChanges(bound);
    if (this.#ended.signal.aborted) return notChecked(`${kind.name}: ${ENDS}`);
    const running = this.#serverOf(kind);
    let isInLine = false;
    try {
      const server = await within(running.server, bound);
      isInLine = true;
      const look = async () => {
        isInLine = false;
        return await server.look(file, importers, times);
      };
      const looked = await this.#lanes.run([kind.name], look, bound);
      running.timeouts = 0;
      running.isWarm ||= file.proposed !== undefined;
      return { state: 'checked', by: server.name, ...looked };
    } catch (error) {
      signal.throwIfAborted();
      const reason = isInLine
        ? 'it had other files to check'
        : this.#explain(error, running, late.aborted && maxMs);
      return notChecked(`${kind.name}: ${reason}`);
    }
  }

  /** Whether a server for the file runs. Undefined where no server is for such files. */
  async isAwakeFor(path: string): Promise<boolean | undefined> {
    const choice = await this.#place.readChoice();
    const kind = kindOf(path, choice);
    return kind && this.#running.get(kind.name)?.started?.hasEnded === false;
  }

  /** Ends every server. Resolves when their processes are gone. */
  async end(): Promise<void> {
    this.#ended.abort();
    await Promise.all([...this.#running.values()].map((running) => this.#stop(running)));
  }

  #serverOf(kind: ServerKind): RunningLanguageServer {
    const known = this.#running.get(kind.name);
    const isGone = known?.started?.hasEnded === true;
    if (known?.kind.command === kind.command && !isGone) {
      this.#keepAwake(known);
      return known;
    }
    if (known) void this.#stop(known);
    const { root, begin } = this.#place;
    const stopped = new AbortController();
    const server = LanguageServer.start({ kind, root, begin }, stopped.signal);
    const installation = installationStamp(root);
    const running: RunningLanguageServer = {
      kind,
      server,
      installation,
      stopped,
      timeouts: 0,
      isWarm: false,
    };
    const onStart = (started: LanguageServer) => {
      running.started = started;
    };
    server.then(onStart, (error: unknown) => {
      if (stopped.signal.aborted) return;
      const reason = error instanceof NoAnswer ? error.message : 'it could not be started';
      this.#fail(running, reason);
    });
    this.#running.set(kind.name, running);
    this.#keepAwake(running);
    return running;
  }

  #keepAwake(running: RunningLanguageServer): void {
    clearTimeout(running.idle);
    running.idle = setTimeout(() => void this.#stop(running), DIAGNOSTICS_LIMITS.idleMs).unref();
  }

  async #stop(running: RunningLanguageServer): Promise<void> {
    clearTimeout(running.idle);
    const { kind, server, stopped } = running;
    stopped.abort();
    if (this.#running.get(kind.name) === running) this.#running.delete(kind.name);
    await server.then((started) => started.end()).catch(() => {}); // It exited by itself.
  }

  #fail(running: RunningLanguageServer, reason: string): void {
    const { kind, installation } = running;
    const untilMs = performance.now() + DIAGNOSTICS_LIMITS.retryMs;
    this.#failed.set(kind.name, { untilMs, installation, reason });
    void this.#stop(running);
  }

  #failureOf({ name }: ServerKind): string | undefined {
    const failed = this.#failed.get(name);
    const isSame = failed?.installation === installationStamp(this.#place.root);
    if (failed && isSame && performance.now() < failed.untilMs) return failed.reason;
    this.#failed.delete(name);
    return undefined;
  }

  /** A server that is late goes on: the next check may be in time. */
  #explain(error: unknown, running: RunningLanguageServer, lateMs: number | false): string {
    if (error instanceof NoAnswer) {
      this.#fail(running, error.message);
      return error.message;
    }
    if (lateMs === false) return ENDS;
    const reason = `it gave no answer within ${lateMs} ms`;
    // A short wait says nothing about the server.
    if (lateMs >= DIAGNOSTICS_LIMITS.maxHoldMs) running.timeouts++;
    if (running.timeouts >= DIAGNOSTICS_LIMITS.maxTimeouts) this.#fail(running, reason);
    return reason;
  }

  async #passOnChanges(signal: AbortSignal): Promise<void> {
    const changes = await this.#changes.since(signal).catch(() => []); // Too late, which the caller finds, too.
    for (const { server } of this.#running.values()) {
      void server.then((started) => started.filesChanged(changes)).catch(() => {}); // It exited.
    }
  }
}

/** Empty where the search takes too long, or is refused: the file itself is checked. */
async function importersInTime(
  find: FindImporters,
  { late, signal }: LookTimes,
): Promise<readonly CheckedFile[]> {
  const bound = AbortSignal.any([signal, late]);
  try {
    return await within(find(bound), bound);
  } catch (error) {
    if (!signal.aborted && (late.aborted || error instanceof ToolFailure)) return [];
    throw error;
  }
}

const ENDS = 'the bridge ends';

function notChecked(reason: string): CheckLook {
  return { state: 'not_checked', reason };
}

/** Undefined where no server is for the file. */
function kindOf(path: string, choice: ServerChoice): ServerKind | undefined {
  const extension = extname(path).toLowerCase();
  const kinds = choice.state === 'known' ? choice.kinds : [];
  return kinds.find(({ files }) => Object.hasOwn(files, extension));
}

function sizeProblem({ kept, proposed }: AskedFile): string | undefined {
  const { maxTextBytes } = DIAGNOSTICS_LIMITS;
  const isLarge = [kept, proposed].some((text) => (text?.length ?? 0) > maxTextBytes);
  return isLarge ? `the file has more than ${maxTextBytes} characters` : undefined;
}
