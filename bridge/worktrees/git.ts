/** Runs git on repositories of a worktree and of the person, so that no repository makes it start another program. */
import type { ChildProcess } from 'node:child_process';
import { addAbortListener, once } from 'node:events';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ToolFailure } from '../../machine/failure.ts';
import { type Launch, spawnLaunch } from '../../packages/sandbox/index.ts';
import { WORKTREE_LIMITS } from './limits.ts';

export interface GitCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** `latin1` for names, which need not be UTF-8: each byte of input and output is one character. */
  readonly encoding?: 'utf8' | 'latin1';
  readonly timeoutMs?: number;
  /** Bytes of output that the caller can use. Git is ended at the limit, and the answer says `isCut`. */
  readonly maxBytes?: number;
  /** Confines git. Without it, git runs as the owner of the workspace. */
  readonly confine?: ((launch: Launch) => Promise<Launch>) | undefined;
  readonly signal: AbortSignal;
}

export interface GitAnswer {
  /** Null for a git that was ended at the limit of its output. */
  readonly code: number | null;
  readonly output: string;
  readonly complaint: string;
  readonly isCut: boolean;
}

export interface GitProgram {
  /** Absolute. */
  readonly file: string;
  /** Stands before git: see Account. */
  readonly prefix: readonly string[];
}

export class Git {
  readonly #program: GitProgram;

  constructor(program: GitProgram) {
    this.#program = program;
  }

  /**
   * Resolves with any exit code. Throws a ToolFailure for a git that does not start, does not answer in time, or is ended
   * by a signal.
   */
  async ask(call: GitCall): Promise<GitAnswer> {
    const { maxBytes = WORKTREE_LIMITS.maxGitBytes, input = '', encoding = 'utf8' } = call;
    const work = new GitWork(await this.#launchOf(call), call);
    work.child.stdin?.end(input, encoding);
    const chunks: Buffer[] = [];
    let left = maxBytes;
    work.child.stdout?.on('data', (chunk: Buffer) => {
      if (left > 0) chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      if (left < 0) work.end();
    });
    const code = await work.code;
    if (code === null && left >= 0) throw gitFailed(call.args, 'a signal ended it');
    const output = Buffer.concat(chunks).toString(encoding);
    return { code, output, complaint: work.complaint, isCut: left < 0 };
  }

  /** What git printed. Throws a ToolFailure (`WORKTREE_FAILED`) for anything but success. */
  async run(call: GitCall): Promise<string> {
    const { code, output, complaint, isCut } = await this.ask(call);
    const isTooMuch = isCut && call.maxBytes === undefined;
    if (isCut ? !isTooMuch : code === 0) return output;
    throw gitFailed(call.args, isTooMuch ? 'it printed too much' : complaint);
  }

  /** Sends the first one's output to the second one's input. Throws as {@link run} does, after the end of both. */
  async pipe(from: GitCall, to: GitCall): Promise<void> {
    const launches = [await this.#launchOf(from), await this.#launchOf(to)] as const;
    const source = new GitWork(launches[0], from);
    const sink = new GitWork(launches[1], to);
    const ended = Promise.allSettled([source.code, sink.code]);
    source.child.stdin?.end(from.input ?? '');
    sink.child.stdout?.resume();
    const { stdout } = source.child;
    const { stdin } = sink.child;
    // A failure of the stream shows in the exit of the program behind it.
    if (stdout && stdin) await pipeline(stdout, stdin).catch(() => {});
    await ended;
    const [sent, taken] = await Promise.all([source.code, sink.code]);
    if (sent !== 0) throw gitFailed(from.args, source.complaint);
    if (taken !== 0) throw gitFailed(to.args, sink.complaint);
  }

  async #launchOf({ cwd, args, env = {}, confine }: GitCall): Promise<Launch> {
    const { file, prefix } = this.#program;
    const [first = file, ...rest] = confine ? [file] : [...prefix, file];
    const launch: Launch = {
      file: first,
      args: [...rest, ...SAFE, ...args],
      cwd,
      env: { ...environment(file), ...env },
      inputs: [],
      hasPidNamespace: false,
    };
    return confine ? await confine(launch) : launch;
  }
}

/** A running git. */
class GitWork {
  readonly child: ChildProcess;
  readonly code: Promise<number | null>;
  complaint = '';
  readonly #end: () => Promise<void>;

  constructor(launch: Launch, { timeoutMs = WORKTREE_LIMITS.gitAskMs, signal, args }: GitCall) {
    signal.throwIfAborted();
    const { child, end } = spawnLaunch(launch, 'pipe');
    this.child = child;
    this.#end = end;
    this.child.stdin?.on('error', () => {}); // Git ends before it has read everything when something is wrong.
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      const room = WORKTREE_LIMITS.maxComplaintChars - this.complaint.length;
      this.complaint += text.slice(0, Math.max(0, room));
    });
    this.code = this.#ended(timeoutMs, signal, args);
    this.code.catch(() => {}); // Nothing waits for it where the other end of its pipe cannot be started.
  }

  end(): void {
    void this.#end();
  }

  async #ended(timeoutMs: number, signal: AbortSignal, args: GitCall['args']) {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    using _stopping = addAbortListener(bound, () => this.end());
    try {
      const [code] = await once(this.child, 'close');
      if (bound.aborted) await this.#end(); // What it has started may still write.
      signal.throwIfAborted();
      if (bound.aborted) throw gitFailed(args, NO_ANSWER);
      return typeof code === 'number' ? code : null;
    } catch (error) {
      if (error instanceof ToolFailure || signal.aborted) throw error;
      throw gitFailed(args, error instanceof Error ? error.message : String(error));
    }
  }
}

/** Everything that git could run by itself is off, and a folder that only looks like a repository does not count. */
const SAFE = [
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'safe.bareRepository=explicit',
  // A bridge that runs as root works in the repository of another user.
  '-c',
  'safe.directory=*',
  '-c',
  'gc.auto=0',
  '-c',
  'maintenance.auto=false',
  // Names that only some systems take for `.git` are refused on all.
  '-c',
  'core.protectHFS=true',
  '-c',
  'core.protectNTFS=true',
];

/** Only the repository's own configuration, no network, and no question to a person. */
function environment(git: string): Record<string, string> {
  return {
    PATH: [...new Set([dirname(git), '/usr/bin', '/bin'])].join(':'),
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    // A worktree's own repository does not know them: both must see the same objects.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_TERMINAL_PROMPT: '0',
  };
}

const NO_ANSWER =
  'it did not answer in time. A pipe in the place of .gitignore or .gitattributes does that: remove it';

/** For a git with these arguments. */
export function gitFailed(args: GitCall['args'], complaint: string): ToolFailure {
  const command = args.find((arg, index) => arg !== '-c' && args[index - 1] !== '-c');
  return worktreeFailed(`git ${command} failed: ${complaint.trim() || 'it said nothing'}`);
}

/** `why` is what happened, and what to do about it. */
export function worktreeFailed(why: string): ToolFailure {
  return new ToolFailure('WORKTREE_FAILED', why);
}
