/** One connection to a companion, the MCP server that an editor runs. */
import { normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { newDeferred } from '../../../../machine/deferred.ts';
import { REQUEST_LIMITS } from '../../../../shared/limits.ts';
import { nameInLine, shorten } from '../../../../shared/text/plain-sight.ts';
import type { Metadata } from '../../../../shared/wire/documents.ts';
import { CallFailure, type Connection } from '../../../mcp/index.ts';
import type { Candidate } from '../discovery/candidate.ts';
import type { LinkLimits } from './limits.ts';
import { createLocalFetch } from './local-fetch.ts';
import {
  closedContent,
  type EditorDiagnostic,
  type EditorNews,
  readDiagnostics,
  readNotification,
  textOf,
} from './wire.ts';

export interface CompanionOptions {
  readonly limits: LinkLimits;
  /** Called from the start of the handshake on. */
  readonly onNews: (news: EditorNews) => void;
  readonly signal: AbortSignal;
}

/** A file, and its content as a diff shows or showed it. */
export interface ShownDiff {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** What became of a diff that was sent. The person's decision about an opened one comes as news. */
export type OpenedDiff =
  | { readonly state: 'opened' }
  /** The editor shows no diff. `why` is its own text. */
  | { readonly state: 'refused'; readonly why: string }
  /** No answer: the editor may show the diff or not, and the connection is over. */
  | { readonly state: 'lost' };

export type DiffClosing =
  /** `content` is what the diff showed; undefined where no such diff was open. */
  | { readonly state: 'closed'; readonly content: string | undefined }
  /** The diff may still be open. */
  | { readonly state: 'unknown' };

/**
 * A companion that has answered `initialize` and listed its tools. A call that it leaves unanswered ends the connection:
 * the official companions of some versions answer only the client that came last, and a new connection is the last one.
 */
export class Companion {
  readonly candidate: Candidate;
  /** The editor's name for people, in one line. */
  readonly name: string;
  /** Whether it has both tools for diffs. */
  readonly canDiff: boolean;
  /** Resolves with the reason, for a log, when the connection is over. */
  readonly ended: Promise<string>;
  readonly end: (reason: string) => void;
  readonly #connection: Connection;
  readonly #options: CompanionOptions;
  readonly #tools: ReadonlySet<string>;
  /** Looks in a row whose questions about diagnostics got no answer in time, and when the last of them ended. */
  #late = { looks: 0, atMs: 0 };

  private constructor(
    candidate: Candidate,
    connection: Connection,
    tools: ReadonlySet<string>,
    options: CompanionOptions & Pick<Companion, 'ended' | 'end'>,
  ) {
    const name = candidate.ide?.displayName ?? connection.serverName;
    this.candidate = candidate;
    this.name = shorten(nameInLine(name), REQUEST_LIMITS.maxNameChars);
    this.canDiff = tools.has(OPEN) && tools.has(CLOSE);
    this.ended = options.ended;
    this.end = options.end;
    this.#connection = connection;
    this.#options = options;
    this.#tools = tools;
  }

  /** Rejects when the companion does not answer in time, or not as one. */
  static async connect(
    candidate: Candidate,
    host: string,
    options: CompanionOptions,
  ): Promise<Companion> {
    const { limits } = options;
    const { promise: ended, resolve: end } = newDeferred<string>();
    const watchdog: { timer?: NodeJS.Timeout } = {};
    const onBytes = () => void watchdog.timer?.refresh();
    const connection = await openConnection(candidate, host, { ...options, onBytes, end });
    void ended.then(() => {
      clearTimeout(watchdog.timer);
      return connection.close();
    });
    /** The end of a connection rejects what it still owes. */
    const listTools = async (maxMs: number) => {
      const late = setTimeout(() => end('it does not answer'), maxMs);
      try {
        return await connection.listTools();
      } catch (error) {
        end('it does not list its tools');
        throw error;
      } finally {
        clearTimeout(late);
      }
    };
    const tools = await listTools(limits.listMs);
    // Some networks drop a silent connection, and neither end notices.
    const probe = () => void listTools(limits.probeMs).catch(() => {});
    watchdog.timer = setTimeout(probe, limits.quietMs).unref();
    const names = new Set(tools.map(({ name }) => name));
    return new Companion(candidate, connection, names, { ...options, ended, end });
  }

  /**
   * Shows a change that the person may edit, accept or reject. The decision comes as news, perhaps before this answer:
   * then the signal ends the wait. Never rejects.
   */
  async openDiff({ path, text }: ShownDiff, signal: AbortSignal): Promise<OpenedDiff> {
    const answer = await this.#call(OPEN, { filePath: path, newContent: text }, signal);
    if (answer.state !== 'answered') return answer;
    if (!answer.result.isError) return { state: 'opened' };
    return { state: 'refused', why: textOf(answer.result) ?? 'it gave no reason' };
  }

  /** Closes the diff of a file, if one is open, without news of it. Never rejects. */
  async closeDiff(path: string): Promise<DiffClosing> {
    const args = { filePath: path, suppressNotification: true };
    const answer = await this.#call(CLOSE, args, this.#options.signal);
    if (answer.state !== 'answered' || answer.result.isError) return { state: 'unknown' };
    return { state: 'closed', content: closedContent(answer.result, this.#connection.serverName) };
  }

  /** Whether it has the tool for diagnostics, and has lately answered in time. */
  get canDiagnose(): boolean {
    const { maxLateLooks, diagnosePauseMs } = this.#options.limits;
    const isLate = this.#late.looks >= maxLateLooks;
    const isPaused = isLate && performance.now() - this.#late.atMs < diagnosePauseMs;
    return this.#tools.has(DIAGNOSE) && !isPaused;
  }

  /**
   * The errors and warnings of these files, by these paths. Undefined where not all answers come in time: the
   * connection stays. Never rejects.
   */
  async diagnose(
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<EditorDiagnostic[] | undefined> {
    if (!this.canDiagnose) return undefined;
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(this.#options.limits.diagnoseMs)]);
    try {
      const answers = await Promise.all(paths.map((path) => this.#diagnoseOne(path, waiting)));
      this.#late = { looks: 0, atMs: 0 };
      return answers.flat();
    } catch {
      if (!signal.aborted) this.#late = { looks: this.#late.looks + 1, atMs: performance.now() };
      return undefined;
    }
  }

  /** Nothing where the editor refuses, for example because it does not know the file. */
  async #diagnoseOne(path: string, signal: AbortSignal): Promise<EditorDiagnostic[]> {
    const uri = pathToFileURL(path).href;
    try {
      const result = await this.#connection.call({ name: DIAGNOSE }, { uri }, { signal });
      if (result.isError) return [];
      const { found, problem } = readDiagnostics(result);
      if (problem !== undefined) this.#options.onNews({ type: 'invalid', problem });
      // Some editors report those of all files.
      const own = found.filter((each) => normalize(each.path) === normalize(path));
      return own.map((each) => ({ ...each, path }));
    } catch (error) {
      if (!signal.aborted && isRefusal(error)) return [];
      throw error;
    }
  }

  async #call(tool: string, args: Metadata, signal: AbortSignal): Promise<CompanionAnswer> {
    const timeoutMs = this.#options.limits.acknowledgeMs;
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const result = await this.#connection.call({ name: tool }, args, { signal: waiting });
      return { state: 'answered', result };
    } catch (error) {
      if (!waiting.aborted && isRefusal(error)) return { state: 'refused', why: error.message };
      if (!signal.aborted) this.end(`it did not answer ${tool}`);
      return { state: 'lost' };
    }
  }
}

type CompanionAnswer =
  | { readonly state: 'answered'; readonly result: CallToolResult }
  | Exclude<OpenedDiff, { state: 'opened' }>;

interface CompanionOpening extends CompanionOptions {
  readonly onBytes: () => void;
  readonly end: (reason: string) => void;
}

async function openConnection(
  { port, token }: Candidate,
  host: string,
  { limits, signal, onNews, onBytes, end }: CompanionOpening,
): Promise<Connection> {
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { maxMessageBytes } = limits;
  const fetch = createLocalFetch({ port, maxMessageBytes, onBytes, onStreamEnd: end });
  // Loading the SDK takes its time, which is not the companion's.
  const { connectServer } = await import('../../../mcp/connected.ts');
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limits.connectMs);
  try {
    return await connectServer(
      { url: `http://${host}:${port}/mcp`, headers, disabled: false },
      {
        folder: '/',
        workspace: '/',
        environment: {},
        fetch,
        isOld: true,
        onStderr: () => {},
        onToolsChanged: () => {},
        signal: AbortSignal.any([signal, late.signal]),
        onNotification: (method, params) => {
          const news = readNotification(method, params);
          if (news) onNews(news);
        },
        onClosed: () => end('the connection was closed'),
      },
    );
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the companion goes on, and took only this call amiss. */
function isRefusal(error: unknown): error is CallFailure {
  return error instanceof CallFailure && error.outcome === 'answered';
}

const OPEN = 'openDiff';
const CLOSE = 'closeDiff';
const DIAGNOSE = 'getDiagnostics';
