/** The companion: an MCP server that Gemini CLI and Qwen Code connect to as their IDE. */
import { randomBytes } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { LocalError } from '../../../machine/local-error.ts';
import { SentContext, toContextUpdate } from './context.ts';
import {
  DiscoveryFiles,
  type DiscoveryPlace,
  type GuestFamily,
  type OwnAnnouncement,
  variablesOf,
} from './discovery.ts';
import { DoorRefusal, type DoorVisit, type FrontDoor, openFrontDoor } from './front-door.ts';
import { COMPANION_LIMITS } from './limits.ts';
import type { ProtocolOptions } from './mcp-server.ts';
import { CompanionSession, type Guest, type SessionOptions } from './session.ts';

export interface OwnCompanionOptions {
  /** The absolute folders that are open. A CLI connects that runs in one of them, or below it. */
  readonly roots: readonly string[];
  /** `name` is short and in lower case, `displayName` is for people. */
  readonly ide: { readonly name: string; readonly displayName: string };
  /**
   * Shows a proposed file to a person, and resolves with the answer. Never rejects. The signal aborts when the CLI
   * closes the diff, when it has left, and when the companion ends. The promise then resolves at once: accepted with the
   * content as it stands in the view, or rejected. A CLI that closes the diff waits for that, up to a second.
   */
  readonly onDiff: SessionOptions['onDiff'];
  /**
   * The errors and warnings that the editor shows of a file. Drawbridge's bridge asks for them when a run starts, and
   * waits 150 ms for all files: answer from what is known. Gemini CLI and Qwen Code do not ask.
   */
  readonly diagnose?: ProtocolOptions['diagnose'];
  /** A CLI has connected, or has left. */
  readonly onGuest?: (guest: Guest, change: 'came' | 'left') => void;
  /** By default the places where the CLIs of this user look, and this process. */
  readonly discovery?: Partial<DiscoveryPlace>;
  /** Milliseconds that a CLI without an event stream stays. Default: 30 s. */
  readonly streamlessMs?: number;
}

/** One companion, from its start to `close`. It outlives every CLI that connects, and never writes a file of the workspace. */
export class CompanionServer {
  readonly #options: OwnCompanionOptions;
  readonly #mcp: typeof import('./mcp-server.ts');
  readonly #files: DiscoveryFiles;
  readonly #tokens = { gemini: newToken(), qwen: newToken() };
  readonly #sessions = new Map<string, CompanionSession>();
  #roots: readonly string[];
  #door: FrontDoor | undefined;
  #context: SentContext | undefined;
  #sending: NodeJS.Timeout | undefined;
  #hasClosed = false;

  private constructor(options: OwnCompanionOptions, mcp: typeof import('./mcp-server.ts')) {
    this.#options = options;
    this.#mcp = mcp;
    this.#roots = checkRoots(options.roots);
    this.#files = new DiscoveryFiles({ ...usualPlace(), ...options.discovery });
  }

  /**
   * Listens on a free port of 127.0.0.1 and writes the discovery files.
   * @throws {LocalError} if a root is no absolute path. Throws the system's error if it cannot listen.
   */
  static async start(options: OwnCompanionOptions): Promise<CompanionServer> {
    const companion = new CompanionServer(options, await import('./mcp-server.ts'));
    const onVisit = (visit: DoorVisit) => companion.#receive(visit);
    companion.#door = await openFrontDoor({ tokens: companion.#tokens, onVisit });
    companion.#files.announce(companion.#announcement);
    return companion;
  }

  get port(): number {
    return this.#door?.port ?? 0;
  }

  /** The variables for a shell that a CLI is started in. One of them is a key. */
  get environment(): Readonly<Record<string, string>> {
    return variablesOf(this.#announcement);
  }

  /**
   * One sentence for each discovery file that could not be written. Gemini CLI can then connect by the variables only,
   * and Qwen Code not at all.
   */
  get problems(): readonly string[] {
    return this.#files.problems;
  }

  /** Path and text of each discovery file, so that a later process can remove what a killed one has left behind. */
  get discoveryFiles(): Readonly<Record<string, string>> {
    return this.#files.texts;
  }

  /**
   * Sends the CLIs what is open in the editor, within 50 ms. Call it at each change of files, cursor or selection.
   * @throws {ZodError} for a context that the CLIs would not accept.
   */
  contextChanged(context: SentContext): void {
    this.#context = SentContext.parse(context);
    this.#sending ??= setTimeout(() => {
      this.#sending = undefined;
      for (const session of this.#sessions.values()) session.sendContext();
    }, COMPANION_LIMITS.contextDelayMs).unref();
  }

  /**
   * Announces which folders are open now. A CLI that is connected stays, and the same folders again cost nothing.
   * @throws {LocalError} as {@link CompanionServer.start}.
   */
  setRoots(roots: readonly string[]): void {
    const isSame = roots.join('\0') === this.#roots.join('\0');
    this.#roots = checkRoots(roots);
    if (!isSame && !this.#hasClosed) this.#files.announce(this.#announcement);
  }

  /** Removes the discovery files first, so that no CLI finds a server that is about to end. May be called twice. */
  async close(): Promise<void> {
    this.#hasClosed = true;
    this.#files.remove();
    clearTimeout(this.#sending);
    await Promise.all([...this.#sessions.values()].map((session) => session.end()));
    await this.#door?.close();
  }

  get #announcement(): OwnAnnouncement {
    return { port: this.port, tokens: this.#tokens, roots: this.#roots, ide: this.#options.ide };
  }

  async #receive(visit: DoorVisit): Promise<Response> {
    const { sessionId, request } = visit;
    if (sessionId === undefined) return await this.#receiveNew(visit);
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.guest.family !== visit.family)
      throw new DoorRefusal(404, 'There is no such session: begin a new one.');
    if (request.method !== 'DELETE') return await session.handle(visit);
    await session.end();
    return new Response(null, { status: 204 });
  }

  async #receiveNew(visit: DoorVisit): Promise<Response> {
    if (!this.#mcp.isInitializeRequest(visit.body))
      throw new DoorRefusal(
        400,
        'Begin with initialize, and send its mcp-session-id from then on.',
      );
    await this.#makeRoom();
    const session = await this.#newSession(visit.family);
    const response = await session.handle(visit);
    if (this.#hasClosed || !response.ok) {
      await session.end();
      return response;
    }
    this.#sessions.set(session.id, session);
    this.#options.onGuest?.(session.guest, 'came');
    return response;
  }

  #newSession(family: GuestFamily): Promise<CompanionSession> {
    const { onDiff, onGuest, ide, diagnose } = this.#options;
    const { streamlessMs = COMPANION_LIMITS.streamlessMs } = this.#options;
    return CompanionSession.start({
      family,
      onDiff,
      streamlessMs,
      newProtocol: (options) =>
        this.#mcp.newProtocol({ ...options, diagnose, title: ide.displayName }),
      context: () => this.#context && toContextUpdate(this.#context),
      onEnd: (ended) => {
        if (this.#sessions.delete(ended.id)) onGuest?.(ended.guest, 'left');
      },
    });
  }

  /** Ends the oldest session without an event stream, where there are too many. */
  async #makeRoom(): Promise<void> {
    if (this.#sessions.size < COMPANION_LIMITS.maxSessions) return;
    const idle = [...this.#sessions.values()].find(({ hasStream }) => !hasStream);
    if (idle === undefined) throw new DoorRefusal(503, 'Too many programs are connected: end one.');
    await idle.end();
  }
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function usualPlace(): DiscoveryPlace {
  const { QWEN_HOME = '' } = process.env;
  const qwenFolder = isAbsolute(QWEN_HOME) ? QWEN_HOME : join(homedir(), '.qwen');
  return { qwenFolder, temporaryFolder: tmpdir(), processId: process.pid };
}

function checkRoots(roots: readonly string[]): readonly string[] {
  const wrong = roots.find((root) => !isAbsolute(root));
  if (wrong === undefined) return [...roots];
  throw new LocalError('refused', `${wrong} is no absolute path.`);
}
