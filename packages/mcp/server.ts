/** The life of one MCP server: started, listed, called, and started again when it ends. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Tool } from '@modelcontextprotocol/client';
import { newDeferred } from '../../machine/deferred.ts';
import type { Environment } from '../../machine/environment.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { keepAlive } from '../../machine/keep-alive.ts';
import { logEvent } from '../../machine/log.ts';
import { inOneLine, nameInLine } from '../../shared/text/plain-sight.ts';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import type { Metadata } from '../../shared/wire/documents.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';
import type { ToolContext, ToolExecutor } from '../host/index.ts';
import { CallFailure, type CallOutcome } from './call-failure.ts';
import { MCP_LIMITS } from './limits.ts';
import { LoginNeeded } from './login/login-file.ts';
import { readingTools } from './offers/readable.ts';
import { toToolResult } from './offers/tool-result.ts';
import { type CallWork, RunningCalls } from './running-calls.ts';
import type { ServerConfig } from './server-list.ts';
import type { ServerSandbox } from './transport/confined.ts';
import type { Connection } from './transport/connection.ts';
import type { Offering } from './transport/lists.ts';

export interface ReadyServer {
  readonly state: 'ready';
  readonly about: string;
  readonly instructions: string | undefined;
  readonly tools: readonly Tool[];
  readonly offering: Offering;
}

export type McpServerState = { readonly state: 'starting' } | ReadyServer | DownServer;

/** The server ended, did not start, or is disabled. If it is not, it will be started again. */
export interface DownServer {
  readonly state: 'down';
  /** One line. */
  readonly reason: string;
  readonly why?: 'disabled' | 'login';
}

export interface ServerPlace {
  /** Of the list, absolute. */
  readonly folder: string;
  /** Absolute. */
  readonly workspace: string;
  /** Of the bridge. */
  readonly environment: Environment;
  readonly loginFile: string;
  /** For servers that are to run in it. */
  readonly sandbox?: ServerSandbox | undefined;
  /** Called after each change of {@link McpServer.state}. */
  readonly onChange: () => void;
}

export class McpServer {
  readonly name: string;
  readonly #config: ServerConfig;
  readonly #place: ServerPlace;
  readonly #ended = new AbortController();
  readonly #life: Promise<void>;
  #connection: Connection | undefined;
  readonly #calls = new RunningCalls();
  #isListing = false;
  #state: McpServerState = { state: 'starting' };
  #kept: ReadyServer | undefined;
  #keeping: NodeJS.Timeout | undefined;
  /** The last lines that a stdio server wrote to stderr. */
  #complaints: string[] = [];

  /** Starts it. */
  constructor(name: string, config: ServerConfig, place: ServerPlace) {
    this.name = name;
    this.#config = config;
    this.#place = place;
    this.#life = this.#live();
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** Ends the server, and every call of it. Resolves when its process is gone. */
  async end(): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#keeping);
    await this.#life;
    clearTimeout(this.#keeping);
  }

  /** Whether its owner wants this tool of it. */
  isWanted(tool: string): boolean {
    const { includeTools, excludeTools = [] } = this.#config;
    return (includeTools?.includes(tool) ?? true) && !excludeTools.includes(tool);
  }

  /** What it offers: while it is ready, and for `MCP_LIMITS.keepMs` after, since most servers come back. */
  get offered(): ReadyServer | undefined {
    return this.#kept;
  }

  /**
   * Calls a tool. Throws a ToolFailure: `SERVER_UNAVAILABLE` when nothing was sent, `UNKNOWN_OUTCOME` when the server
   * ended meanwhile, `TIMEOUT`, `TOOL_ERROR`; and the context's reason when the call was cancelled. A call that was not
   * handed over, or that may be repeated, is made once more by the server that was started again.
   */
  async call(tool: Tool, args: Metadata, context: ToolContext): Promise<ToolResult> {
    return await this.#carry(context, tool, async (connection, options) =>
      toToolResult(await connection.call(tool, args, options)),
    );
  }

  /** The tools of the bridge's own for this server's data. Their calls throw as {@link call} does. */
  get readingTools(): readonly { readonly tool: Tool; readonly call: ToolExecutor<Metadata> }[] {
    const { offered } = this;
    if (offered === undefined) return [];
    return readingTools(this.name, offered.offering).map(({ tool, read }) => ({
      tool,
      call: (args, context) =>
        this.#carry(context, undefined, (connection, options) =>
          read(connection, args, offered.offering, options),
        ),
    }));
  }

  /** `tool` is one of the server's own. */
  async #carry(context: ToolContext, tool: Tool | undefined, work: CallWork): Promise<ToolResult> {
    const { signal, mayRepeat } = context;
    if (!this.#connection && !(await this.#isBack(tool, undefined, signal)))
      throw this.#unavailable();
    const before = this.#connection;
    try {
      return await this.#reach(context, work);
    } catch (error) {
      if (!mayBeRepeated(error, mayRepeat)) throw error;
      if (!(await this.#isBack(tool, before, signal))) throw error;
      return await this.#reach(context, work);
    }
  }

  /** Waits for a connection after `before`. False without one in time, and for another definition of the tool. */
  async #isBack(
    tool: Tool | undefined,
    before: Connection | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const ended = [signal, this.#ended.signal, AbortSignal.timeout(MCP_LIMITS.repeatMs)];
    const given = AbortSignal.any(ended);
    while (this.#state.state !== 'ready' || !this.#connection || this.#connection === before) {
      await sleep(MCP_LIMITS.repeatPollMs, undefined, { signal: given }).catch(() => {});
      signal.throwIfAborted();
      if (given.aborted || this.#kept === undefined) return false;
    }
    const now = this.#state.tools.find(({ name }) => name === tool?.name);
    return canonicalJson(now ?? null) === canonicalJson(tool ?? null);
  }

  async #reach(context: ToolContext, work: CallWork): Promise<ToolResult> {
    const connection = this.#connection;
    if (connection === undefined) throw this.#unavailable();
    const timeoutMs = this.#config.timeout ?? MCP_LIMITS.callMs;
    try {
      return await this.#calls.run(connection, context, { timeoutMs, work });
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof ToolFailure) throw error;
      throw this.#failureOf(error, timeoutMs, connection);
    }
  }

  async #live(): Promise<void> {
    const { signal } = this.#ended;
    let restarts = 0;
    await keepAlive(async () => {
      if (this.#state.state === 'down') this.#become({ state: 'starting' });
      const startedMs = performance.now();
      const down = await this.#once();
      if (signal.aborted) return undefined;
      this.#become(down);
      if (performance.now() - startedMs > MCP_LIMITS.steadyMs) restarts = 0;
      return Math.min(MCP_LIMITS.restartMs * 2 ** restarts++, MCP_LIMITS.maxRestartMs);
    }, signal);
  }

  /** From a start to the end that follows. Resolves with why it ended. */
  async #once(): Promise<DownServer> {
    const { signal } = this.#ended;
    const closed = newDeferred<DownServer>();
    const onEnded = () => closed.resolve({ state: 'down', reason: 'the bridge is ending' });
    signal.addEventListener('abort', onEnded, { once: true });
    let connection: Connection | undefined;
    try {
      const { connectServer } = await import('./transport/connection.ts');
      connection = await connectServer(this.#config, {
        ...this.#place,
        signal,
        onStderr: (text) => this.#keep(text),
        onRefusedTool: (tool, why) => {
          const message = `${this.name}: ${nameInLine(tool)} cannot be offered: ${why}`;
          logEvent({ event: 'offer_refused', message });
        },
        onElicit: (params, cancelled) => this.#calls.elicit(params, cancelled),
        onToolsChanged: () => {
          const failed = (error: unknown) => closed.resolve(this.#downBy(error));
          if (connection) this.#listAgain(connection).catch(failed);
        },
        onClosed: (reason) =>
          closed.resolve({ state: 'down', reason: this.#withLastWords(reason) }),
      });
      this.#connection = connection;
      await this.#list(connection);
      return await closed.promise;
    } catch (error) {
      return this.#downBy(error);
    } finally {
      signal.removeEventListener('abort', onEnded);
      this.#connection = undefined;
      await connection?.close();
    }
  }

  /** Once for any number of changes at a time. */
  async #listAgain(connection: Connection): Promise<void> {
    if (this.#isListing) return;
    this.#isListing = true;
    try {
      await sleep(MCP_LIMITS.relistMs, undefined, { signal: this.#ended.signal });
    } catch {
      return; // The bridge is ending.
    } finally {
      this.#isListing = false;
    }
    if (this.#connection === connection) await this.#list(connection);
  }

  async #list(connection: Connection): Promise<void> {
    const tools = await connection.listTools();
    const offering = await connection.listOffering();
    if (this.#connection !== connection) return; // It ended meanwhile.
    const { about, instructions } = connection;
    this.#become({ state: 'ready', about: nameInLine(about), instructions, tools, offering });
  }

  #become(state: McpServerState): void {
    this.#state = state;
    if (state.state === 'ready') {
      clearTimeout(this.#keeping);
      this.#keeping = undefined;
      this.#kept = state;
    } else if (this.#kept) this.#keeping ??= setTimeout(() => this.#drop(), MCP_LIMITS.keepMs);
    this.#place.onChange();
  }

  #drop(): void {
    this.#kept = undefined;
    this.#keeping = undefined;
    this.#place.onChange();
  }

  #keep(text: string): void {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    const cut = lines.map((line) => inOneLine(line.slice(0, MCP_LIMITS.maxStderrLineChars)));
    this.#complaints = [...this.#complaints, ...cut].slice(-MCP_LIMITS.maxStderrLines);
  }

  #downBy(error: unknown): DownServer {
    const why = error instanceof LoginNeeded && { why: 'login' as const };
    return { state: 'down', reason: this.#reasonOf(error), ...why };
  }

  #reasonOf(error: unknown): string {
    if (error instanceof LoginNeeded)
      return `it demands a login: run \`drawbridge mcp login ${this.name}\``;
    return this.#withLastWords(inOneLine(error instanceof Error ? error.message : String(error)));
  }

  #withLastWords(reason: string): string {
    // A program's last line is often only its version.
    const said =
      this.#complaints.findLast((line) => /error/i.test(line)) ?? this.#complaints.at(-1);
    return said === undefined ? reason : `${reason} (its last words: ${said})`;
  }

  #unavailable(): ToolFailure {
    const why = this.#state.state === 'down' ? this.#state.reason : 'it is starting';
    return new ToolFailure(
      'SERVER_UNAVAILABLE',
      `The MCP server ${this.name} is not running (${why}). Nothing was sent to it: go on without it, or try again later.`,
    );
  }

  #failureOf(error: unknown, timeoutMs: number, connection: Connection): ToolFailure {
    const outcome = error instanceof CallFailure ? error.outcome : 'lost';
    // A connection that cannot carry a call is made anew.
    if (outcome === 'refused' || outcome === 'lost') void connection.close();
    const [code, text] = this.#describeFailure(outcome, error, timeoutMs);
    return new ToolFailure(code, text, { cause: error });
  }

  #describeFailure(
    outcome: CallOutcome,
    error: unknown,
    timeoutMs: number,
  ): readonly [code: string, text: string] {
    switch (outcome) {
      case 'answered':
        return ['TOOL_ERROR', this.#reasonOf(error)];
      case 'timeout': {
        const text = `made no progress for ${Math.round(timeoutMs / 1_000)} s, and was asked to stop.`;
        return ['TIMEOUT', `The MCP server ${this.name} ${text}`];
      }
      case 'refused': {
        const text = `cannot be reached (${this.#reasonOf(error)}). Nothing was done.`;
        return ['SERVER_UNAVAILABLE', `The MCP server ${this.name} ${text}`];
      }
      case 'lost': {
        const text = 'stopped while the call was running: whether it had any effect is unknown.';
        return ['UNKNOWN_OUTCOME', `The MCP server ${this.name} ${text}`];
      }
    }
  }
}

/** Whether a call that failed so was not handed over, or may be made twice. A person who must log in takes longer. */
function mayBeRepeated(error: unknown, mayRepeat: boolean): boolean {
  if (!(error instanceof ToolFailure)) return false;
  if (error.code === 'UNKNOWN_OUTCOME') return mayRepeat;
  const { cause } = Object(error.cause);
  return error.code === 'SERVER_UNAVAILABLE' && !(cause instanceof LoginNeeded);
}
