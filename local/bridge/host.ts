/** Runs the bridges of a server's projects in one process of their own, apart from the server and its keys. */
import { type ChildProcess, spawn } from 'node:child_process';
import { newDeferred } from '../../machine/deferred.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { supervise } from '../processes/supervise.ts';
import { ownEnvironment } from './environment.ts';
import { type HostedBridge, HostNews, type HostOrder } from './messages.ts';

export interface BridgeHostOptions {
  /** The program that runs `drawbridge`, and its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** Of the process. Each bridge has another one of its own for the programs that it starts. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the process may ask and write at this process's terminal. */
  readonly sharesTerminal: boolean;
  /** Gets what the process writes outside the logs of its bridges, such as the stack of a crash. */
  onOutput(text: string): void;
  /** Called when the process has died and is being started again. */
  onRestart(death: string): void;
}

type News = HostNews['news'];

interface HostRun {
  readonly order: HostOrder;
  readonly signal: AbortSignal;
  onNews(news: News): void;
}

/** One process, started with the first bridge or before. When it dies, every run of a bridge ends. */
export class BridgeHost {
  readonly #options: BridgeHostOptions;
  readonly #ending = new AbortController();
  readonly #runs = new Map<string, HostRun>();
  #child: ChildProcess | undefined;
  #supervised: Promise<void> | undefined;

  constructor(options: BridgeHostOptions) {
    this.#options = options;
  }

  /**
   * Runs a bridge until `signal` aborts or it ends by itself. A crash of the process ends the run too, and a bridge that
   * does not end costs the process, with the runs of all its bridges.
   * @throws {LocalError} if the process keeps dying.
   */
  async run(
    bridge: HostedBridge,
    onNews: (news: News) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const key = crypto.randomUUID();
    const ended = newDeferred<void>();
    const order: HostOrder = { order: 'run', key, bridge };
    let killing: NodeJS.Timeout | undefined;
    const end = () => {
      this.#send({ order: 'end', key });
      killing ??= setTimeout(() => this.#child?.kill('SIGKILL'), LOCAL_LIMITS.bridgeGraceMs);
    };
    this.#runs.set(key, {
      order,
      signal,
      onNews: (news) => (news.event === 'ended' ? ended.resolve() : onNews(news)),
    });
    signal.addEventListener('abort', end);
    try {
      // A new process gets all orders as soon as it runs.
      if (this.#supervised) this.#send(order);
      else this.#start();
      if (signal.aborted) end();
      await Promise.race([ended.promise, this.#supervised]);
    } finally {
      signal.removeEventListener('abort', end);
      clearTimeout(killing);
      this.#runs.delete(key);
    }
  }

  /** Starts the process before the first bridge needs it. */
  prepare(): void {
    if (!this.#supervised) this.#start();
  }

  /** Ends all bridges and the process. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#supervised?.catch(() => {});
  }

  /** A process that kept dying gets another chance with the next bridge. */
  #start(): void {
    const { bridgeGraceMs: graceMs } = LOCAL_LIMITS;
    const { onRestart } = this.#options;
    const start = () => this.#spawn();
    const running = supervise(
      "The bridges' process",
      start,
      { graceMs, onRestart },
      this.#ending.signal,
    );
    this.#supervised = running.finally(() => {
      this.#supervised = undefined;
    });
    // Each run reports it.
    this.#supervised.catch(() => {});
  }

  #spawn(): ChildProcess {
    const { command, sharesTerminal } = this.#options;
    const [program, ...first] = command;
    const child = spawn(program, [...first, 'bridge-host'], {
      stdio: sharesTerminal
        ? ['inherit', process.stderr, process.stderr, 'ipc']
        : ['ignore', 'pipe', 'pipe', 'ipc'],
      env: ownEnvironment(this.#options.environment),
      // The folder of the person's terminal may be deleted meanwhile.
      cwd: '/',
    });
    for (const output of [child.stdout, child.stderr]) {
      output?.setEncoding('utf8').on('data', (text: string) => this.#options.onOutput(text));
    }
    child.on('message', (message) => {
      const { key, news } = HostNews.parse(message);
      this.#runs.get(key)?.onNews(news);
    });
    child.once('exit', () => {
      for (const { onNews } of this.#runs.values()) onNews({ event: 'ended' });
    });
    this.#child = child;
    // After a crash, the next process gets what was ordered since, but for what was ended again: no process took that.
    for (const { order, signal, onNews } of this.#runs.values()) {
      if (signal.aborted) onNews({ event: 'ended' });
      else this.#send(order);
    }
    return child;
  }

  #send(order: HostOrder): void {
    // A process that is ending takes no orders; its end is the end of its runs.
    if (this.#child?.connected) this.#child.send(order, () => {});
  }
}
