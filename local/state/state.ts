/** The state of one instance: its secret, its ids, its token. Made on first use, kept from then on. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import {
  makePrivateFolders,
  readIfThere,
  readOrCreate,
  replaceFile,
} from '../../machine/private-files.ts';
import { openStateFile, readStateFile } from '../../machine/state-file.ts';
import { BridgeId, newBridgeId } from '../../shared/ids.ts';
import { decodeSecrets, MIN_SECRET_BYTES } from '../../shared/wire/tokens.ts';
import { enrolDevice, type MachineDevice, openDevice } from './device.ts';
import { locateState, openStateFolder, STATE_MARK, type StateLocation } from './folder.ts';
import { isTokenFresh, mintToken } from './tokens.ts';
import { openFormat } from './upgrade.ts';

/** A server's state folder. `authSecret` and the device's private key never leave this machine. */
export interface ServerState {
  readonly dir: string;
  /** HS256 key of every token, as text. Drawbridge writes it as base64url. */
  readonly authSecret: string;
  readonly device: MachineDevice;
  /** The folder of the Durable Objects. */
  readonly storageDir: string;
  readonly logsDir: string;
  /** The folder of the files that each start builds again. */
  readonly buildDir: string;
}

/** The state of a project's bridge. */
export interface ProjectState {
  /** The `projectDir` of {@link StatePlace}. */
  readonly projectDir: string;
  readonly bridgeId: string;
}

/** The state of a server and of one project. */
export type State = ServerState & ProjectState;

const BridgeFile = z.object({ bridgeId: BridgeId });

/** Opens the state of an instance and its project, and makes missing parts. @throws {LocalError} if it cannot. */
export async function openState(location: StateLocation): Promise<State> {
  const { serverDir, projectDir } = await locateState(location);
  const server = await openServerState(serverDir);
  return { ...server, ...(await openProjectState(server, projectDir)) };
}

/** Opens a server's state, and makes its missing parts. @throws {LocalError} as {@link openState}. */
export async function openServerState(dir: string): Promise<ServerState> {
  await openStateFolder(dir);
  await openFormat(dir);
  const authSecret = await openSecret(join(dir, STATE_MARK));
  const folders = {
    storageDir: join(dir, 'storage'),
    logsDir: join(dir, 'logs'),
    buildDir: join(dir, 'build'),
  };
  for (const folder of Object.values(folders)) makePrivateFolders(folder);
  const device = await openDevice(dir);
  return { dir, authSecret, device, ...folders };
}

/** Opens a project's state, and makes missing parts: this machine may approve its calls. @throws {LocalError} */
export async function openProjectState(
  { device }: ServerState,
  projectDir: string,
): Promise<ProjectState> {
  makePrivateFolders(projectDir);
  const [{ bridgeId }] = await Promise.all([
    openStateFile(join(projectDir, BRIDGE_FILE), BridgeFile, () => ({
      bridgeId: newBridgeId(crypto.randomUUID()),
    })),
    enrolDevice(device, projectDir),
  ]);
  return { projectDir, bridgeId };
}

/** The id of a project's bridge; undefined for a folder that was never connected. Creates nothing. */
export async function readBridgeId(projectDir: string): Promise<string | undefined> {
  return (await readStateFile(join(projectDir, BRIDGE_FILE), BridgeFile))?.bridgeId;
}

const BRIDGE_FILE = 'bridge.json';

/**
 * The user's token from the state folder; a new one if there is none, or if it expires soon. With a project the token
 * names the project's bridge, and is kept with the project.
 */
export async function readUserToken(
  { dir, authSecret }: Pick<ServerState, 'dir' | 'authSecret'>,
  now: Date,
  project?: ProjectState,
): Promise<string> {
  const path = join(project?.projectDir ?? dir, 'token');
  const kept = await readIfThere(path);
  if (kept !== undefined && (await isTokenFresh(authSecret, kept, now))) return kept;
  const token = await mintToken(authSecret, { scope: 'user', bridgeId: project?.bridgeId }, now);
  try {
    replaceFile(path, token);
  } catch {
    // For example a full disk. The token is valid even if it cannot be kept.
  }
  return token;
}

/** The secret of a state that is there. Creates nothing. @throws {LocalError} if there is none, or it is damaged. */
export async function readAuthSecret(dir: string): Promise<string> {
  const path = join(dir, STATE_MARK);
  const text = await readIfThere(path);
  if (text === undefined) throw new LocalError('refused', `There is no state in ${dir}.`);
  return checkedSecret(path, text);
}

/** A token for the server that runs on a state of whatever format. Changes nothing. @throws {LocalError} */
export async function mintTokenFor(serverDir: string, now: Date): Promise<string> {
  const authSecret = await readIfThere(join(serverDir, STATE_MARK));
  return await mintToken(authSecret?.trim() ?? '', { scope: 'user' }, now);
}

/** The token for `GET /metrics`, made on first use, beside those of METRICS_TOKEN. @throws {LocalError} */
export async function readMetricsToken({ dir }: Pick<ServerState, 'dir'>): Promise<string> {
  return await openSecret(join(dir, 'metrics-token'));
}

async function openSecret(path: string): Promise<string> {
  const make = () => randomBytes(MIN_SECRET_BYTES).toString('base64url');
  return checkedSecret(path, await readOrCreate(path, make));
}

function checkedSecret(path: string, text: string): string {
  const secret = text.trim();
  const decoded = decodeSecrets(secret);
  if (decoded.ok) return secret;
  throw new LocalError(
    'refused',
    `${path} is damaged (it ${decoded.problem}): write a new secret into it; \`openssl rand -base64 32\` prints one.`,
  );
}
