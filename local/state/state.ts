/** The state of one instance: its secret, its identity, its tokens. Made on first use, kept from then on. */
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

/** What is in the state folder. `authSecret` and the device's private key never leave this machine. */
export interface State {
  readonly dir: string;
  /** HS256 key of every token, as text: base64url where we made it. */
  readonly authSecret: string;
  readonly bridgeId: string;
  readonly device: Device;
  /** Where the Durable Objects live. */
  readonly storageDir: string;
  readonly logsDir: string;
  /** What is built anew with every start. */
  readonly buildDir: string;
}

const BridgeFile = z.object({ bridgeId: BridgeId });

/**
 * Opens the state of an instance, and makes what is missing of it.
 * @throws {LocalError} if the folder cannot be used, or a file in it is not what we wrote.
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

/** The user's token as kept in the state folder; a new one when the kept one is about to expire. */
export async function readUserToken(state: State, now: Date): Promise<string> {
  const path = join(state.dir, 'token');
  const kept = await readIfThere(path);
  if (kept !== undefined && (await isTokenFresh(state.authSecret, kept, now))) return kept;
  const token = await mintToken(state.authSecret, { scope: 'user' }, now);
  try {
    replaceFile(path, token);
  } catch {
    // A full disk, say. The token is as good where it cannot be kept.
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
    `${path} is damaged (it ${decoded.problem}): write a new secret into it, such as \`npm run secret\` prints.`,
  );
}

async function openBridgeId(dir: string): Promise<string> {
  const { bridgeId } = await openStateFile(join(dir, 'bridge.json'), BridgeFile, () => ({
    bridgeId: newBridgeId(crypto.randomUUID()),
  }));
  return bridgeId;
}
