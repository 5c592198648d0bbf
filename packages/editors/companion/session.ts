/** One session: a CLI that is connected, its event stream, and its diffs. */
import { randomUUID } from 'node:crypto';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { type DiffOutcome, OpenDiffs } from './diffs.ts';
import type { GuestFamily } from './discovery.ts';
import type { DoorVisit } from './front-door.ts';
import { COMPANION_LIMITS } from './limits.ts';
import type { Protocol, ProtocolOptions } from './mcp-server.ts';

/** A CLI that is connected. */
export interface Guest {
  /** A UUID, another one for each session. */
  readonly id: string;
  /** Whose discovery file the CLI has read. */
  readonly family: GuestFamily;
  /** Its name and version for people, in one line. The CLI gives them itself: they prove nothing. */
  readonly program: string;
}

/** A proposed file, and who proposes it. */
export interface ProposedDiff {
  /** As the guest has written it: unchecked, and perhaps outside the open folders. */
  readonly filePath: string;
  readonly newContent: string;
  readonly guest: Guest;
}

export interface SessionOptions {
  readonly family: GuestFamily;
  readonly newProtocol: (
    options: Pick<ProtocolOptions, 'sessionId' | 'tools'>,
  ) => Promise<Protocol>;
  readonly onDiff: (diff: ProposedDiff, signal: AbortSignal) => Promise<DiffOutcome>;
  /** The parameters of `ide/contextUpdate`, as they are now; undefined while the editor has given none. */
  readonly context: () => Record<string, unknown> | undefined;
  /** Milliseconds that the session lives without an event stream. */
  readonly streamlessMs: number;
  /** Called once, when the session ends. */
  readonly onEnd: (session: CompanionSession) => void;
}

type RpcMessage = readonly [method: string, params?: Record<string, unknown>];

export class CompanionSession {
  readonly id = randomUUID();
  readonly #options: SessionOptions;
  readonly #diffs: OpenDiffs;
  #protocol: Protocol | undefined;
  /** Of the request that opened the event stream. */
  #stream: AbortSignal | undefined;
  /** The context that the stream has sent last, as JSON. */
  #sentContext = '';
  /** Answers of people that came while there was no stream. */
  #unsent: RpcMessage[] = [];
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  private constructor(options: SessionOptions) {
    this.#options = options;
    this.#diffs = new OpenDiffs(
      (diff, signal) => options.onDiff({ ...diff, guest: this.guest }, signal),
      (filePath, outcome) => this.#sendOutcome(filePath, outcome),
    );
  }

  static async start(options: SessionOptions): Promise<CompanionSession> {
    const session = new CompanionSession(options);
    session.#protocol = await options.newProtocol({ sessionId: session.id, tools: session.#diffs });
    session.#stayAwhile();
    return session;
  }

  get guest(): Guest {
    const { family } = this.#options;
    return { id: this.id, family, program: programOf(family, this.#protocol?.client) };
  }

  get hasStream(): boolean {
    return this.#stream !== undefined;
  }

  async handle({ request, body, gone }: DoorVisit): Promise<Response> {
    const protocol = this.#protocol;
    if (protocol === undefined) throw new Error('The session has not started.');
    if (!this.hasStream) this.#stayAwhile();
    if (request.method !== 'GET') return await protocol.handle(request, body);
    protocol.endStream();
    const response = await protocol.handle(request, body);
    if (response.ok && !this.#hasEnded) this.#openStream(gone);
    return response;
  }

  /**
   * Sends the guest what the editor has open now, unless its stream has sent that. Without an event stream, the next
   * stream begins with it.
   */
  sendContext(): void {
    const context = this.#options.context();
    const text = JSON.stringify(context);
    if (context === undefined || !this.hasStream || text === this.#sentContext) return;
    this.#sentContext = text;
    this.#send('ide/contextUpdate', context);
  }

  /** Closes its diffs and its stream. May be called twice. */
  async end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#diffs.end();
    this.#options.onEnd(this);
    await this.#protocol?.close();
  }

  #openStream(gone: AbortSignal): void {
    this.#stream = gone;
    gone.addEventListener('abort', () => this.#loseStream(gone), { once: true });
    if (gone.aborted) return this.#loseStream(gone);
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#send('ping'), COMPANION_LIMITS.pingMs).unref();
    this.#sentContext = '';
    this.sendContext();
    for (const message of this.#unsent.splice(0)) this.#send(...message);
  }

  #loseStream(gone: AbortSignal): void {
    if (this.#stream !== gone) return;
    this.#stream = undefined;
    this.#stayAwhile();
  }

  #stayAwhile(): void {
    clearTimeout(this.#timer);
    if (this.#hasEnded) return;
    this.#timer = setTimeout(() => void this.end(), this.#options.streamlessMs).unref();
  }

  #sendOutcome(filePath: string, outcome: DiffOutcome): void {
    const message: RpcMessage =
      outcome.decision === 'accepted'
        ? ['ide/diffAccepted', { filePath, content: outcome.content }]
        : ['ide/diffRejected', { filePath }];
    if (this.hasStream) this.#send(...message);
    else this.#unsent.push(message);
  }

  /** A stream that has just ended takes nothing: its guest opens a new one, or leaves. */
  #send(...[method, params]: RpcMessage): void {
    this.#protocol?.notify(method, params).catch(() => {});
  }
}

/** Both CLIs call themselves by the name of their transport. Qwen Code always gives the version 1.0.0. */
function programOf(family: GuestFamily, client: Protocol['client']): string {
  const { name, version } = client ?? { name: TRANSPORT_NAME, version: '' };
  const own = name === TRANSPORT_NAME ? KNOWN_PROGRAMS[family] : name;
  const hasVersion = name !== TRANSPORT_NAME || family === 'gemini';
  const program = printableLine(
    hasVersion ? `${own} ${version}` : own,
    COMPANION_LIMITS.maxProgramChars,
  );
  return program === '' ? KNOWN_PROGRAMS[family] : program;
}

const TRANSPORT_NAME = 'streamable-http-client';
const KNOWN_PROGRAMS = { gemini: 'Gemini CLI', qwen: 'Qwen Code' } as const;
