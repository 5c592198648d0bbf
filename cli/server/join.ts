/** Connects a folder to its server, which runs afterwards. */
import { createClient } from '../../client/index.ts';
import { bridgeEnvironment } from '../../local/bridge/environment.ts';
import { DEMO } from '../../local/config/schema.ts';
import { readSettings, type Settings } from '../../local/config/settings.ts';
import { OWN_VERSION } from '../../local/own-root.ts';
import { digestsOf, type ServerReport } from '../../local/server/control.ts';
import { askServer } from '../../local/server/control-client.ts';
import type { Programs } from '../../local/server/worker.ts';
import { readWorkerSettings } from '../../local/settings.ts';
import { locateState, type StateLocation, type StatePlace } from '../../local/state/folder.ts';
import { FORMAT_STEPS, readKnownFormat } from '../../local/state/format.ts';
import { readRemote } from '../../local/state/logins.ts';
import type { Instance } from '../../local/state/running.ts';
import { mintTokenFor } from '../../local/state/state.ts';
import { openFormat } from '../../local/state/upgrade.ts';
import { LocalError } from '../../machine/local-error.ts';
import { isOver } from '../../shared/wire/fold.ts';
import type { ReportedConfinement } from '../../shared/wire/tunnel.ts';
import { findSignedIn, notSignedIn } from '../target/signed-in.ts';
import { ownCommand } from '../terminal/own-command.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { joinOrStart } from './launch.ts';
import { modelLine } from './ready.ts';
import { readStartSettings } from './start-settings.ts';
import { stopServer } from './stop.ts';

export interface Joined {
  readonly place: StatePlace;
  readonly url: string;
  /** Null at a Drawbridge elsewhere, which has its own. */
  readonly model: string | null;
  readonly confinement: ReportedConfinement;
  /** Whether no server ran before. */
  readonly hasStarted: boolean;
  /** For the person; mostly none. */
  readonly notices: readonly string[];
}

export interface JoinOptions {
  readonly location: StateLocation;
  readonly programs: Programs;
  readonly terminal: Terminal;
  readonly port?: number | undefined;
  readonly moves?: boolean | undefined;
  /** The Drawbridge elsewhere to connect the folder to; by default the one that it is connected to. */
  readonly to?: string | undefined;
}

/** @throws {LocalError} if the server cannot start, or the folder cannot be connected. */
export async function joinServer({
  location,
  programs,
  terminal,
  port,
  moves,
  to: named,
}: JoinOptions): Promise<Joined> {
  const place = await locateState(location);
  const to = named ?? (await readRemote(place.projectDir));
  if (to && !(await findSignedIn(to, { state: place.serverDir }))) {
    throw new LocalError('refused', notSignedIn(to));
  }
  const notices: string[] = [];
  const { signal } = new AbortController(); // Ctrl-C ends this command at once.
  const options = { port, terminal, asksModel: to === undefined };
  let hasStarted = false;
  const settings = async () => {
    hasStarted = true;
    return await readStartSettings(options, (line) => notices.push(line), signal);
  };
  const launch = { place, programs, settings };
  let instance = await joinOrStart(launch);
  let server = await statusOf(instance.control);
  const isOlder = (await readKnownFormat(place.serverDir))?.format !== FORMAT_STEPS.length;
  if (isOlder || server.version !== OWN_VERSION) {
    if (await isBusy(place, instance)) {
      if (isOlder) await openFormat(place.serverDir); // Says that the state is in use.
      notices.push(otherVersion(server.version));
    } else {
      await stopServer(place.serverDir);
      instance = await joinOrStart(launch);
      server = await statusOf(instance.control);
    }
  }
  const { workspaceDir } = place;
  const here = await readSettings(process.env, { port });
  notices.push(...unusedNotices(here, server));
  const environment = bridgeEnvironment(process.env, here.keyNames);
  const request = { ask: 'connect', workspaceDir, environment, isHeld: false, moves, to } as const;
  const { project } = await askServer(instance.control, request, 'connected');
  if (project.bridge.state !== 'connected') throw new LocalError('failed', NOT_CONNECTED);
  const { confinement } = project.bridge;
  const model = to === undefined ? modelLine(server.model) : null;
  return { place, url: to ?? instance.url, model, confinement, hasStarted, notices };
}

async function statusOf(control: string): Promise<ServerReport> {
  return (await askServer(control, { ask: 'status' }, 'status')).server;
}

/** Says which settings of this terminal the server does not use, because it was started with others. */
export function unusedNotices(here: Settings, { model, settings, url }: ServerReport): string[] {
  const notices: string[] = [];
  const variable = unusedVariable(here, model);
  if (variable !== undefined) notices.push(keeps('model', [variable]));
  const wanted = digestsOf(readWorkerSettings(process.env));
  const others = Object.keys(wanted).filter((name) => settings?.[name] !== wanted[name]);
  const { value: port, origin } = here.shown.get('server.port') ?? {};
  const isOtherPort = port !== 0 && `${port}` !== new URL(url).port;
  if (isOtherPort && (origin?.from === 'environment' || origin?.from === 'option')) {
    others.push(origin.name);
  }
  if (settings && others.length > 0) notices.push(keeps('settings', others));
  return notices;
}

/** A variable of this terminal that names another model than the one that the server was started with. */
function unusedVariable(
  { shown }: Settings,
  { name, text }: ServerReport['model'],
): string | undefined {
  for (const setting of ['models', 'baseUrl', 'model', 'key'] as const) {
    const { value, origin } = shown.get(setting) ?? {};
    if (origin?.from !== 'environment' || value === DEMO) continue;
    const isOther = setting === 'model' ? !text.includes(String(value)) : name === DEMO;
    if (isOther) return origin.name;
  }
  return undefined;
}

function keeps(what: 'model' | 'settings', ignored: readonly string[]): string {
  const [stop, start] = [ownCommand('stop'), ownCommand('start')];
  return `The running server keeps its ${what} and ignores ${ignored.join(' and ')}: \`${stop}\`, then \`${start}\`, applies ${ignored.length === 1 ? 'it' : 'them'}.`;
}

const NOT_CONNECTED = 'The bridge lost its connection again: run the command again.';

function otherVersion(version: string): string {
  return (
    `The server has version ${version}, this command ${OWN_VERSION}. The server is busy and keeps running: ` +
    `\`${ownCommand('stop')}\` stops it, and the next start uses this version.`
  );
}

/** Whether one of the conversations answered last is still running. Leaves the state in its present format. */
async function isBusy({ serverDir }: StatePlace, { url }: Instance): Promise<boolean> {
  try {
    const client = createClient({ url, token: await mintTokenFor(serverDir, new Date()) });
    const { items } = await client.listConversations({ limit: LOOKED_AT });
    const views = await Promise.all(
      items.map(({ id }) => client.getConversation(id, { limit: 1 })),
    );
    return views.some(({ responses }) => {
      const status = responses.at(-1)?.status;
      return status !== undefined && !isOver(status);
    });
  } catch {
    return true; // An API of another version may answer in another way. Nothing is ended then.
  }
}

/** Conversations that are asked whether they run: more seldom run at once. */
const LOOKED_AT = 20;
