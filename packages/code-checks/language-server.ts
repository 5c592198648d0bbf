/** One running language server. It is asked about texts that need not be on the disk. */
import { addAbortListener } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import { newDeferred } from '../../machine/deferred.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { PacedReading, type Program, TERMINAL_LIMITS } from '../sandbox/index.ts';
import { type Finding, isError } from './findings.ts';
import { languageIdOf, type ServerKind } from './known-servers.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';
import { Messages, RefusedRequest } from './messages.ts';
import {
  AGAIN,
  Configuration,
  defaultsOf,
  endOf,
  INCREMENTAL,
  Introduced,
  introductionTo,
  isPull,
  isSameFile,
  Published,
  Pulled,
  Registrations,
  uriOf,
} from './protocol.ts';
import { TSSERVER_COMMAND, TsserverAnswer, tsserverQuestions } from './tsserver.ts';

/** Starts a line of a shell in the sandbox. Rejects with a {@link NoAnswer} where it may not. */
export type BeginProgram = (command: string) => Promise<Program>;

/** Why there is no answer, in words for the model. */
export class NoAnswer extends Error {}

/** Where a server works, and for what. */
export interface LanguageServerPlace {
  readonly kind: ServerKind;
  /** The workspace's folder. */
  readonly root: string;
  readonly begin: BeginProgram;
}

/** A file as the disk has it. */
export interface CheckedFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** A file, and the text of it that is checked. */
export interface AskedFile {
  /** Absolute. */
  readonly path: string;
  /** What the disk has; null without a file. The server gets it back at the end. */
  readonly kept: string | null;
  /** What an edit would write; absent where the file is checked as it is. */
  readonly proposed?: string;
}

/** How long a look may take. */
export interface LookTimes {
  /** Aborts when it waits for no more importers. */
  readonly late: AbortSignal;
  readonly signal: AbortSignal;
}

/** What is wrong in a file, and in the files that depend on it. */
export interface CheckedTexts {
  /** Of the proposed text where there is one. */
  readonly findings: readonly Finding[];
  /** Of the text on the disk. Empty where the proposed one has no error: none can be new. */
  readonly before: readonly Finding[];
  /** Those with an error. */
  readonly importers: readonly LookedImporter[];
}

export interface LookedImporter extends CheckedFile {
  readonly before: readonly Finding[];
  readonly after: readonly Finding[];
}

export class LanguageServer {
  readonly #place: LanguageServerPlace;
  readonly #program: Program;
  readonly #messages: Messages;
  readonly #over = newDeferred<never>();
  /** By their addresses. */
  readonly #open = new Map<string, OpenDocument>();
  /** The files that stay open. The others would keep a text that the disk may not have any more. */
  #wanted: ReadonlySet<string> = new Set();
  #onReport: (() => void) | undefined;
  #canBeAsked = false;
  /** Whether questions go to the tsserver behind it. */
  #hasTsserver = false;
  #isIncremental = false;
  #stderr = '';
  #ending: Promise<void> | undefined;
  #name: string;

  /** Rejects with a {@link NoAnswer} where the server is not installed or does not start. */
  static async start(place: LanguageServerPlace, signal: AbortSignal): Promise<LanguageServer> {
    const server = new LanguageServer(place, await place.begin(place.kind.command));
    try {
      await server.#introduce(signal);
      return server;
    } catch (error) {
      await server.end();
      throw error;
    }
  }

  private constructor(place: LanguageServerPlace, program: Program) {
    this.#place = place;
    this.#program = program;
    this.#name = place.kind.name;
    this.#over.promise.catch(() => {}); // Whoever waits for an answer gets it.
    const { child } = program;
    const { stdin, stdout, stderr } = child;
    child.once('error', () => this.#close('it could not be started'));
    if (stdin === null || stdout === null) throw new NoAnswer('it could not be started');
    this.#messages = new Messages(stdout, stdin, {
      answer: (method, params) => this.#answer(method, params),
      onReport: (method, params) => this.#take(method, params),
      onFault: (reason) => this.#close(reason),
    });
    if (stderr) new PacedReading([stderr], (text) => this.#keepStderr(text));
    child.once('exit', (code) => {
      const end = () => this.#close(this.#reasonOf(code));
      // Its last words are still in the pipes. A program that it left behind may hold them open.
      child.once('close', end);
      setTimeout(end, TERMINAL_LIMITS.drainMs).unref();
    });
  }

  /** The server's own name and version, for people and the model. */
  get name(): string {
    return this.#name;
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /**
   * The importers are files that depend on this one, as they are. They are checked too where the server can be asked.
   * Rejects with a {@link NoAnswer}, and with the signal's reason. One call at a time: the server knows one text of a
   * file.
   */
  async look(
    { path, kept, proposed }: AskedFile,
    importers: Promise<readonly CheckedFile[]>,
    times: LookTimes,
  ): Promise<CheckedTexts> {
    const { signal } = times;
    const mustOpen = this.#canBeAsked && !this.#place.kind.answersUnopened;
    const opened = mustOpen ? await importers : [];
    this.#wanted = new Set([path, ...opened.map((file) => file.path)].map(uriOf));
    try {
      // All texts come before the first question: a server makes a new program after each change.
      this.#show(path, proposed ?? kept);
      for (const file of opened) this.#show(file.path, file.text);
      const findings = await this.#findingsOf(path, signal);
      if (proposed === undefined) return { findings, before: [], importers: [] };
      const around = this.#canBeAsked ? await importers : [];
      const looked = await this.#lookAround({ path, text: kept }, around, times);
      if (!findings.some(isError)) return { findings, before: [], importers: looked };
      this.#show(path, kept);
      return { findings, before: await this.#findingsOf(path, signal), importers: looked };
    } finally {
      this.#show(path, kept);
    }
  }

  /** Those with an error, of the files that are answered about before `late` aborts. */
  async #lookAround(
    kept: { readonly path: string; readonly text: string | null },
    files: readonly CheckedFile[],
    { late, signal }: LookTimes,
  ): Promise<readonly LookedImporter[]> {
    const bound = AbortSignal.any([signal, late]);
    const suspects: Omit<LookedImporter, 'before'>[] = [];
    try {
      for (const file of files) {
        const after = await this.#pull(file.path, bound);
        if (after.some(isError)) suspects.push({ ...file, after });
      }
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
    }
    if (suspects.length > 0) this.#show(kept.path, kept.text);
    const found: LookedImporter[] = [];
    for (const file of suspects) {
      found.push({ ...file, before: await this.#pull(file.path, signal) });
    }
    return found;
  }

  /** Says which files others have changed: the server reads them anew. */
  filesChanged(changes: readonly DiskChange[]): void {
    if (changes.length === 0) return;
    this.#messages.report('workspace/didChangeWatchedFiles', {
      changes: changes.map(({ path, type }) => ({ uri: uriOf(path), type: CHANGES[type] })),
    });
  }

  /** Resolves when all its processes are gone. */
  async end(): Promise<void> {
    this.#close('it was ended');
    await this.#ending;
  }

  async #introduce(signal: AbortSignal): Promise<void> {
    const folder = uriOf(this.#place.root);
    const answer = await this.#ask('initialize', { ...introductionTo(folder) }, signal);
    const { capabilities, serverInfo } = readAnswer(Introduced, answer);
    const { name = this.#place.kind.name, version = '' } = serverInfo ?? {};
    // gopls describes its whole build there, as JSON.
    const shown = version.startsWith('{') ? '' : version;
    this.#name = printableLine(`${name} ${shown}`, MAX_NAME_CHARS);
    const { diagnosticProvider, executeCommandProvider, textDocumentSync } = capabilities;
    this.#isIncremental = textDocumentSync === INCREMENTAL;
    this.#hasTsserver = executeCommandProvider?.commands.includes(TSSERVER_COMMAND) ?? false;
    // It may have registered already.
    if (this.#hasTsserver || diagnosticProvider !== undefined) this.#canBeAsked = true;
    this.#messages.report('initialized', {});
    if (!this.#canBeAsked) await sleep(DIAGNOSTICS_LIMITS.registrationMs, undefined, { signal });
  }

  /** Of the text that the server has been shown; empty without one. */
  async #findingsOf(path: string, signal: AbortSignal): Promise<Finding[]> {
    const open = this.#open.get(uriOf(path));
    if (open === undefined) return [];
    return this.#canBeAsked ? await this.#pull(path, signal) : await this.#wait(open, signal);
  }

  /** Gives the server a text of a file; null takes the file away from it. */
  #show(path: string, text: string | null): void {
    const uri = uriOf(path);
    const open = this.#open.get(uri);
    if (text === null) return this.#closeFile(uri);
    if (open === undefined) {
      const languageId = languageIdOf(this.#place.kind, path);
      const textDocument = { uri, languageId, version: 1, text };
      this.#messages.report('textDocument/didOpen', { textDocument });
      this.#open.set(uri, { uri, version: 1, text });
    } else if (open.text !== text) {
      const range = { start: { line: 0, character: 0 }, end: endOf(open.text) };
      // vtsls 0.3 keeps the end of a longer text where it is given no range.
      const contentChanges = [this.#isIncremental ? { range, text } : { text }];
      open.version++;
      open.text = text;
      const textDocument = { uri, version: open.version };
      this.#messages.report('textDocument/didChange', { textDocument, contentChanges });
    }
    // Only now: a server without open files gives up the project.
    for (const other of this.#open.keys()) if (!this.#wanted.has(other)) this.#closeFile(other);
  }

  #closeFile(uri: string): void {
    if (!this.#open.delete(uri)) return;
    this.#messages.report('textDocument/didClose', { textDocument: { uri } });
    const changes = [{ uri, type: CHANGES.changed }];
    this.#messages.report('workspace/didChangeWatchedFiles', { changes });
  }

  /** A server may give up an answer because a text has changed, and wants to be asked again. */
  async #pull(path: string, signal: AbortSignal): Promise<Finding[]> {
    for (;;) {
      try {
        return await this.#request(path, signal);
      } catch (error) {
        if (!(error instanceof RefusedRequest)) throw error;
        const isAgain = AGAIN.has(error.code);
        if (!isAgain && !this.#open.has(uriOf(path))) return []; // The file has just gone from the disk.
        if (!isAgain) throw new NoAnswer('it refused to answer');
        await sleep(DIAGNOSTICS_LIMITS.quietMs / 10, undefined, { signal });
      }
    }
  }

  async #request(path: string, signal: AbortSignal): Promise<Finding[]> {
    if (!this.#hasTsserver) {
      const params = { textDocument: { uri: uriOf(path) } };
      const answer = await this.#ask('textDocument/diagnostic', params, signal);
      return readAnswer(Pulled, answer).items;
    }
    const answers = await Promise.all(
      tsserverQuestions(path).map((each) => this.#ask('workspace/executeCommand', each, signal)),
    );
    return answers.flatMap((answer) => {
      const findings = readAnswer(TsserverAnswer, answer);
      if (findings === null) throw new RefusedRequest({ code: 0, message: 'no such file' });
      return findings;
    });
  }

  /** Waits for the server's own report about the present text. Many report nothing of a text without findings. */
  async #wait(open: OpenDocument, signal: AbortSignal): Promise<Finding[]> {
    const wanted = open.version;
    const { promise, resolve, reject } = newDeferred<void>();
    let quiet: NodeJS.Timeout | undefined;
    const settle = () => {
      const { report } = open;
      if (report === undefined || report.shown < wanted) return;
      if (report.version !== undefined && report.version >= wanted) return resolve();
      if (report.version !== undefined) return;
      // It names no version, so it may be about the text before: the last one counts.
      clearTimeout(quiet);
      quiet = setTimeout(resolve, DIAGNOSTICS_LIMITS.quietMs);
    };
    signal.throwIfAborted();
    using _leaving = addAbortListener(signal, () => reject(signal.reason));
    this.#onReport = settle;
    try {
      settle();
      await Promise.race([promise, this.#over.promise]);
      return open.report?.findings ?? [];
    } finally {
      clearTimeout(quiet);
      this.#onReport = undefined;
    }
  }

  async #ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return await Promise.race([this.#messages.ask(method, params, signal), this.#over.promise]);
  }

  /** A server asks for settings and for what the client can do. It gets the defaults, and may change nothing. */
  #answer(method: string, params: unknown): unknown {
    switch (method) {
      case 'client/registerCapability':
        if (Registrations.safeParse(params).data?.registrations.some(isPull))
          this.#canBeAsked = true;
        return null;
      case 'workspace/configuration':
        return (Configuration.safeParse(params).data?.items ?? []).map(defaultsOf);
      case 'workspace/workspaceFolders':
        return [{ uri: uriOf(this.#place.root), name: 'workspace' }];
      case 'workspace/applyEdit':
        return { applied: false };
      case 'client/unregisterCapability':
      case 'window/workDoneProgress/create':
      case 'window/showMessageRequest':
      case 'workspace/diagnostic/refresh':
        return null;
      default:
        return undefined;
    }
  }

  #take(method: string, params: unknown): void {
    if (method !== 'textDocument/publishDiagnostics') return;
    const { data } = Published.safeParse(params);
    if (data === undefined) return;
    // Only of open files: a server may report about thousands.
    const open = [...this.#open.values()].find(({ uri }) => isSameFile(uri, data.uri));
    if (open === undefined) return;
    const { version, diagnostics: findings } = data;
    open.report = { version: version ?? undefined, shown: open.version, findings };
    this.#onReport?.();
  }

  #keepStderr(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-DIAGNOSTICS_LIMITS.maxStderrChars);
  }

  #reasonOf(code: number | null): string {
    if (code === NOT_INSTALLED) return 'it is not installed';
    const said = printableLine(this.#stderr, DIAGNOSTICS_LIMITS.maxStderrChars);
    return `it ended${code === null ? '' : ` with exit code ${code}`}${said === '' ? '' : `: ${said}`}`;
  }

  #close(reason: string): void {
    if (this.#ending) return;
    this.#ending = this.#program.end();
    this.#over.reject(new NoAnswer(reason));
    const { stdin, stdout, stderr } = this.#program.child;
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
  }
}

/** A file that changed on the disk. */
export interface DiskChange {
  /** Absolute. */
  readonly path: string;
  readonly type: keyof typeof CHANGES;
}

/** As the protocol numbers them. */
const CHANGES = { created: 1, changed: 2, deleted: 3 } as const;

interface OpenDocument {
  readonly uri: string;
  version: number;
  text: string;
  report?: Report;
}

/** A report that the server made by itself. */
interface Report {
  /** Of the text that it is about; undefined where the server does not say it. */
  readonly version: number | undefined;
  /** The version of the text that the server had been given when the report came. */
  readonly shown: number;
  readonly findings: Finding[];
}

function readAnswer<Answer>(schema: z.ZodType<Answer>, answer: unknown): Answer {
  const { success, data } = schema.safeParse(answer);
  if (!success) throw new NoAnswer('its answer cannot be read');
  return data;
}

/** The shell's exit code for a program that it does not find. */
const NOT_INSTALLED = 127;

const MAX_NAME_CHARS = 60;
