/** One connected folder of a server: keeps its bridge running, and knows how the bridge is. */
import { existsSync } from 'node:fs';
import type { IndexReport } from '../../machine/bridge-status.ts';
import { keepAlive } from '../../machine/keep-alive.ts';
import { LocalError } from '../../machine/local-error.ts';
import type { LogEvent, TellNotice } from '../../machine/log-line.ts';
import type { BridgeHost } from '../bridge/host.ts';
import type { HostNews } from '../bridge/messages.ts';
import { LOCAL_LIMITS } from '../limits.ts';
import { restartWaitMs } from '../processes/supervise.ts';
import { publicHalf } from '../state/device.ts';
import { bridgeLogOf, type StatePlace } from '../state/folder.ts';
import { noteRemote } from '../state/logins.ts';
import { openProjectState, type ServerState } from '../state/state.ts';
import { mintBridgeToken, mintToken } from '../state/tokens.ts';
import type { BridgeReport, ProjectReport } from './control.ts';

/** What the projects of one server share. */
export interface ProjectServer {
  readonly url: string;
  readonly state: ServerState;
  readonly host: Pick<BridgeHost, 'run'>;
  readonly onNotice: TellNotice;
}

export interface ProjectOptions {
  readonly place: StatePlace;
  /** See local/bridge/environment.ts. */
  readonly environment: Readonly<Record<string, string>>;
  readonly asksAtTerminal: boolean;
  /** Whether the conversations of another folder go on in this one. */
  readonly moves?: boolean | undefined;
  /** See {@link ConnectRequest} of projects.ts. */
  readonly to?: string | undefined;
}

/** Runs from its making to {@link Project.end}. */
export class Project {
  readonly options: ProjectOptions;
  readonly #server: ProjectServer;
  readonly #ending = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #running: Promise<void>;
  #bridge: BridgeReport = { state: 'starting' };
  #index: IndexReport | undefined;
  /** Ends since the bridge was last connected. */
  #failures = 0;
  #noticed = '';

  constructor(server: ProjectServer, options: ProjectOptions) {
    this.#server = server;
    this.options = options;
    this.#running = this.#keepRunning().catch((error: unknown) =>
      this.#fail(error instanceof LocalError ? error.message : String(error)),
    );
  }

  get report(): ProjectReport {
    const index = this.#index;
    const { place, to } = this.options;
    return {
      workspaceDir: place.workspaceDir,
      ...(to && { to }),
      bridge: this.#bridge,
      ...(index && { index }),
    };
  }

  /** Resolves when it is known whether the bridge connects, or at its time limit. */
  async settled(): Promise<ProjectReport> {
    const late = AbortSignal.any([
      AbortSignal.timeout(LOCAL_LIMITS.bridgeReadyMs),
      this.#ending.signal,
    ]);
    while (!late.aborted && UNSETTLED.has(this.#bridge.state)) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
        late.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return this.report;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#ending;
    const deaths: number[] = [];
    await keepAlive(async () => {
      if (!existsSync(this.options.place.workspaceDir)) {
        this.#set({ state: 'missing' });
        return LOCAL_LIMITS.missingPollMs;
      }
      const death = await this.#runOnce();
      if (signal.aborted || this.#bridge.state === 'failed') return undefined;
      if (death === 'missing') return 0;
      deaths.push(performance.now());
      this.#failures += 1;
      const waitMs = restartWaitMs(deaths);
      if (waitMs === undefined || this.#failures >= LOCAL_LIMITS.maxCrashes) {
        return void this.#fail(death);
      }
      this.#notice('bridge_restarted', `ended (${death}) and is being restarted`);
      this.#set({ state: 'starting' });
      return waitMs;
    }, signal);
  }

  /** Runs the bridge until it ends, and says why it did. It is `missing` when the folder has gone. */
  async #runOnce(): Promise<string> {
    const { host, state, url } = this.#server;
    const { place, environment, asksAtTerminal, moves, to } = this.options;
    const { bridgeId } = await openProjectState(state, place.projectDir);
    noteRemote(place.projectDir, to);
    const { token, expiresMs } = await mintBridgeToken(state.authSecret, bridgeId);
    if (moves && to === undefined) await this.#allowMove(bridgeId);
    const bridge = {
      url: to ?? url,
      // Another server gets nothing that this one has signed.
      token: to === undefined ? token : null,
      bridgeId,
      environment,
      asksAtTerminal,
      moves,
      machineId: state.device.deviceId,
      machineDir: state.dir,
      workspaceDir: place.workspaceDir,
      stateDir: place.projectDir,
      logFile: bridgeLogOf(state.logsDir, place.workspaceDir),
    };
    const gone = new AbortController();
    const watch = setInterval(() => {
      if (!existsSync(place.workspaceDir)) gone.abort();
    }, LOCAL_LIMITS.missingPollMs);
    let death = 'its process died';
    const onNews = (news: HostNews['news']) => {
      if (news.event === 'failed') death = news.message;
      // The server refuses an expired token. The next run has a new one.
      const isExpired = !to && news.event === 'refused' && Date.now() >= expiresMs;
      if (isExpired) death = 'its token has expired';
      else this.#see(news);
    };
    try {
      await host.run(bridge, onNews, AbortSignal.any([this.#ending.signal, gone.signal]));
    } finally {
      clearInterval(watch);
    }
    return gone.signal.aborted ? 'missing' : death;
  }

  /** As its owner does. The server refuses the bridge where this fails and the bridge's machine was another one. */
  async #allowMove(bridgeId: string): Promise<void> {
    const { url, state } = this.#server;
    const token = await mintToken(state.authSecret, { scope: 'user' }, new Date());
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify({ key: publicHalf(state.device).publicKey });
    const path = `${url}/api/v1/bridges/${bridgeId}/move`;
    await fetch(path, { method: 'POST', headers, body }).catch(() => undefined);
  }

  #see(news: HostNews['news']): void {
    switch (news.event) {
      case 'connected':
        if (this.#bridge.state === 'away') this.#notice('bridge_returned', 'is back');
        this.#failures = 0;
        return this.#set({ state: 'connected', confinement: news.confinement });
      case 'disconnected':
        this.#notice('bridge_lost', `lost its connection (${news.reason}) and is reconnecting`);
        return this.#set({ state: 'away', reason: news.reason });
      case 'refused':
        return this.#fail(news.message);
      case 'index':
        this.#index = news.index;
        return;
      case 'failed':
      case 'ended':
        this.#index = undefined;
        return;
    }
  }

  #fail(reason: string): void {
    this.#notice('bridge_given_up', `stopped: ${reason}`);
    this.#set({ state: 'failed', reason });
  }

  #set(bridge: BridgeReport): void {
    const before = this.#bridge;
    this.#bridge = bridge;
    if (bridge.state === 'missing' && before.state !== 'missing') {
      const line = `${this.options.place.workspaceDir} was deleted or moved.`;
      this.#server.onNotice(line, 'project_missing');
    }
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** Repeats nothing twice in a row. */
  #notice(event: LogEvent, what: string): void {
    const line = `The bridge of ${this.options.place.workspaceDir} ${what.replace(/\.$/, '')}.`;
    if (line !== this.#noticed) this.#server.onNotice(line, event);
    this.#noticed = line;
  }
}

const UNSETTLED: ReadonlySet<BridgeReport['state']> = new Set(['starting', 'away']);
