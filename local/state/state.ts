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
import { BridgeId, newBridgeId } from '../../shared/ids.ts';
import { decodeSecret, MIN_SECRET_BYTES } from '../../shared/tokens.ts';
import { type Device, openDevice } from './device.ts';
import { locateState, openStateFolder, STATE_MARK, type StateLocation } from './folder.ts';
import { openStateFile } from './state-file.ts';
import { isTokenFresh, mintToken } from './tokens.ts';

/** The content of the state folder. `authSecret` and the device's private key never leave this machine. */
export interface State {
  readonly dir: string;
  /** HS256 key of every token, as text. Drawbridge writes it as base64url. */
  readonly authSecret: string;
  readonly bridgeId: string;
  readonly device: Device;
  /** The folder of the Durable Objects. */
  readonly storageDir: string;
  readonly logsDir: string;
  /** The folder of the files that each start builds again. */
  readonly buildDir: string;
}

const BridgeFile = z.object({ bridgeId: BridgeId });

/**
 * Opens the state of an instance, and makes its missing parts.
 * @throws {LocalError} if the folder cannot be used, or a file in it is damaged.
 */
export async function openState(location: StateLocation): Promise<State> {
  const dir = await locateState(location);
  await openStateFolder(dir);
  const authSecret = await openSecret(join(dir, STATE_MARK));
  const folders = {
    storageDir: join(dir, 'storage'),
    logsDir: join(dir, 'logs'),
    buildDir: join(dir, 'build'),
  };
  for (const folder of Object.values(folders)) makePrivateFolders(folder);
  const [bridgeId, device] = await Promise.all([openBridgeId(dir), openDevice(dir)]);
  return { dir, authSecret, bridgeId, device, ...folders };
}

/** The user's token from the state folder; a new one if there is none, or if it expires soon. */
export async function readUserToken(state: State, now: Date): Promise<string> {
  const path = join(state.dir, 'token');
  const kept = await readIfThere(path);
  if (kept !== undefined && (await isTokenFresh(state.authSecret, kept, now))) return kept;
  const token = await mintToken(state.authSecret, { scope: 'user' }, now);
  try {
    replaceFile(path, token);
  } catch {
    // For example a full disk. The token is valid even if it cannot be kept.
  }
  return token;
}

async function openSecret(path: string): Promise<string> {
  const make = () => randomBytes(MIN_SECRET_BYTES).toString('base64url');
  const secret = (await readOrCreate(path, make)).trim();
  const decoded = decodeSecret(secret);
  if (decoded.ok) return secret;
  throw new LocalError(
    'refused',
    `${path} is damaged (it ${decoded.problem}): write a new secret into it; \`npm run secret\` prints one.`,
  );
}

async function openBridgeId(dir: string): Promise<string> {
  const { bridgeId } = await openStateFile(join(dir, 'bridge.json'), BridgeFile, () => ({
    bridgeId: newBridgeId(crypto.randomUUID()),
  }));
  return bridgeId;
}
