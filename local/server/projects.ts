/** The folders that are connected to a server, kept over its restarts. */
import { join } from 'node:path';
import { LocalError } from '../../machine/local-error.ts';
import { replaceFile } from '../../machine/private-files.ts';
import { readStateFile } from '../../machine/state-file.ts';
import { locateState, projectName, type StatePlace } from '../state/folder.ts';
import { noteRemote, readRemote } from '../state/logins.ts';
import { ConnectedList, connectedListPath } from '../state/running.ts';
import type { ProjectReport } from './control.ts';
import { Project, type ProjectOptions, type ProjectServer } from './project.ts';

export interface ProjectsOptions extends ProjectServer {
  /** The variables that hold keys of models: no bridge gets them. */
  readonly keyNames: readonly string[];
  /** The kind of the server's state. A server of the kind `own` takes one folder. */
  readonly kind: StatePlace['kind'];
}

interface ConnectedProject {
  readonly project: Project;
  /** Whether the project comes back with the next start of the server. */
  isKept: boolean;
  /** Whether its environment is the server's own: no terminal has connected it since the start. */
  readonly isRestored: boolean;
}

export interface ConnectRequest {
  readonly workspaceDir: string;
  /** Of the terminal that connects the folder; keys of models are taken out. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether its bridge may ask at the terminal of this process. */
  readonly asksAtTerminal: boolean;
  /** Whether the folder leaves again with the program that connects it ({@link Projects.release}). */
  readonly isHeld: boolean;
  /** Whether the folder takes the place of the one that a server of the kind `own` had before, with its conversations. */
  readonly moves?: boolean | undefined;
  /** The Drawbridge elsewhere that the folder is connected to; undefined for this server itself. */
  readonly to?: string | undefined;
}

/** The bridges of the connected folders. A folder that leaves with its program is not on the list on disk. */
export class Projects {
  readonly #options: ProjectsOptions;
  readonly #connected = new Map<string, ConnectedProject>();
  /** The ends of bridges that are under way. The next bridge of a folder waits: both would write to its state. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** The requests of the programs that hold a folder, whichever bridge it has: it leaves with the last one, if not kept. */
  readonly #holders = new Map<string, Set<ConnectRequest>>();
  #hasEnded = false;

  constructor(options: ProjectsOptions) {
    this.#options = options;
  }

  get reports(): ProjectReport[] {
    return [...this.#connected.values()].map(({ project }) => project.report);
  }

  /** Connects the folders of the list. `environment` serves their bridges until a terminal connects them. */
  async restore(environment: Readonly<Record<string, string>>): Promise<void> {
    for (const workspaceDir of await this.#readList()) {
      const place = await this.#locate(workspaceDir).catch(() => this.#lostPlace(workspaceDir));
      const to = await readRemote(place.projectDir).catch(() => undefined);
      const options = { place, to, environment: this.#keyless(environment), asksAtTerminal: false };
      this.#begin(options, { isKept: true, isRestored: true });
    }
  }

  /**
   * Connects a folder, and resolves when its bridge is connected. A connected folder stays as it is, unless its bridge
   * is over, or came back with the server and would ask elsewhere or has another environment: then the bridge is
   * started anew.
   * @throws {LocalError} if the folder cannot be connected.
   */
  async connect(request: ConnectRequest): Promise<ProjectReport> {
    const { isHeld, asksAtTerminal, moves, to } = request;
    if (moves && this.#options.kind === 'own') await this.#leaveOthers(request.workspaceDir);
    const place = await this.#locate(request.workspaceDir);
    const environment = this.#keyless(request.environment);
    const options = { place, environment, asksAtTerminal, moves, to };
    const before = this.#connected.get(place.workspaceDir);
    const renewed = before && mustBeRenewed(before, options) ? before : undefined;
    if (renewed) await this.#leave(place.workspaceDir, renewed);
    while (this.#leaving.has(place.workspaceDir)) await this.#leaving.get(place.workspaceDir);
    if (this.#hasEnded) throw new LocalError('failed', ENDING);
    // Another request may have connected the folder meanwhile.
    const now =
      this.#connected.get(place.workspaceDir) ??
      this.#begin(options, { isKept: false, isRestored: false });
    const wasKept = now.isKept;
    now.isKept ||= renewed?.isKept === true || !isHeld;
    if (isHeld) this.#hold(place.workspaceDir, request);
    if (now.isKept && !wasKept) this.#saveList();
    const report = await now.project.settled();
    if (report.bridge.state === 'connected') return report;
    if (isHeld) await this.release(place.workspaceDir, request);
    throw new LocalError('failed', whyNot(report));
  }

  /** The program of the request holds the folder no more. Nothing happens if the folder was disconnected meanwhile. */
  async release(workspaceDir: string, request: ConnectRequest): Promise<void> {
    const holders = this.#holders.get(workspaceDir);
    if (!holders?.delete(request) || holders.size > 0) return;
    const held = this.#connected.get(workspaceDir);
    if (held && !held.isKept) await this.#leave(workspaceDir, held);
  }

  /** Takes a folder off the list, and ends its bridge. False if it was not connected. */
  async disconnect(workspaceDir: string): Promise<boolean> {
    const found = this.#connected.get(workspaceDir);
    if (!found) return false;
    this.#holders.delete(workspaceDir);
    const left = this.#leave(workspaceDir, found);
    noteRemote(found.project.options.place.projectDir, undefined);
    this.#saveList();
    await left;
    return true;
  }

  /** Ends all bridges. No folder can be connected from then on. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const ends = [...this.#connected.values()].map(({ project }) => project.end());
    await Promise.all([...ends, ...this.#leaving.values()]);
  }

  #hold(workspaceDir: string, request: ConnectRequest): void {
    const holders = this.#holders.get(workspaceDir) ?? new Set();
    this.#holders.set(workspaceDir, holders.add(request));
  }

  async #leave(workspaceDir: string, { project }: ConnectedProject): Promise<void> {
    this.#connected.delete(workspaceDir);
    const ended = project.end().finally(() => this.#leaving.delete(workspaceDir));
    this.#leaving.set(workspaceDir, ended);
    await ended;
  }

  #begin(
    options: ProjectOptions,
    kept: Pick<ConnectedProject, 'isKept' | 'isRestored'>,
  ): ConnectedProject {
    const connected = { ...kept, project: new Project(this.#options, options) };
    this.#connected.set(options.place.workspaceDir, connected);
    return connected;
  }

  async #leaveOthers(workspaceDir: string): Promise<void> {
    for (const other of this.#connected.keys()) {
      if (other !== workspaceDir) await this.disconnect(other);
    }
  }

  async #locate(workspaceDir: string): Promise<StatePlace> {
    const { state, kind } = this.#options;
    const stateDir = kind === 'own' ? state.dir : undefined;
    const place = await locateState({ workspaceDir, stateDir });
    const other = this.reports.find((report) => report.workspaceDir !== place.workspaceDir);
    if (place.serverDir !== state.dir || (kind === 'own' && other)) {
      const todo = kind === 'own' ? ': its conversations go on here with --move' : '';
      const text = `${place.workspaceDir} belongs to another server than the one in ${state.dir}${todo}.`;
      throw new LocalError('refused', text);
    }
    return place;
  }

  /** The place of a folder that cannot be found now, and may come back. */
  #lostPlace(workspaceDir: string): StatePlace {
    const { state, kind } = this.#options;
    const projectDir =
      kind === 'own' ? state.dir : join(state.dir, 'projects', projectName(workspaceDir));
    return { kind, workspaceDir, serverDir: state.dir, projectDir };
  }

  #keyless(environment: Readonly<Record<string, string>>): Record<string, string> {
    const keys = new Set(this.#options.keyNames);
    return Object.fromEntries(Object.entries(environment).filter(([name]) => !keys.has(name)));
  }

  get #listPath(): string {
    return connectedListPath(this.#options.state.dir);
  }

  /** Reports a damaged list, and begins it anew: each folder can be connected again. */
  async #readList(): Promise<readonly string[]> {
    try {
      return (await readStateFile(this.#listPath, ConnectedList))?.projects ?? [];
    } catch {
      const text = `${this.#listPath} is damaged: connect your folders again.`;
      this.#options.onNotice(text, 'projects_unreadable');
      return [];
    }
  }

  #saveList(): void {
    const kept = [...this.#connected].filter(([, { isKept }]) => isKept);
    try {
      replaceFile(this.#listPath, JSON.stringify({ projects: kept.map(([dir]) => dir) }));
    } catch {
      const text = `${this.#listPath} cannot be written: after a restart your folders must be connected again.`;
      this.#options.onNotice(text, 'projects_unwritable');
    }
  }
}

/** A bridge that is over, that goes to another server, or that no terminal has connected since the server began. */
function mustBeRenewed({ project, isRestored }: ConnectedProject, wanted: ProjectOptions): boolean {
  const { state } = project.report.bridge;
  if (state === 'failed' || state === 'missing' || project.options.to !== wanted.to) return true;
  if (!isRestored) return false;
  const { environment, asksAtTerminal } = project.options;
  if (wanted.asksAtTerminal !== asksAtTerminal) return true;
  return textOf(wanted.environment) !== textOf(environment);
}

function textOf(environment: Readonly<Record<string, string>>): string {
  const entries = Object.entries(environment).filter(([name]) => !CHANGING.has(name));
  return JSON.stringify(entries.sort());
}

/** Variables that say where a terminal is and how large it is. */
const CHANGING: ReadonlySet<string> = new Set(['PWD', 'COLUMNS', 'LINES']);

const ENDING = 'The server is ending: run the command again when it has stopped.';

function whyNot({ workspaceDir, bridge }: ProjectReport): string {
  const why = 'reason' in bridge ? bridge.reason : 'it did not connect in time';
  return `The bridge of ${workspaceDir} does not work: ${why}`;
}
