/** Finds the Drawbridge that a command talks to: the one at a URL, or the one that runs for a workspace. */

import type { Command } from 'commander';
import type { Device, TokenSource } from '../../client/index.ts';
import { readDevice } from '../../local/state/device.ts';
import { readRemote } from '../../local/state/logins.ts';
import { findInstanceIn } from '../../local/state/running.ts';
import { openServerState, readBridgeId, readUserToken } from '../../local/state/state.ts';
import { nearEndOf } from '../../local/state/tokens.ts';
import { LocalError } from '../../machine/local-error.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { printErr } from '../terminal/print.ts';
import { UsageError } from '../terminal/usage-error.ts';
import {
  addLocationOptions,
  findKept,
  type KeptPlace,
  type LocationOptions,
  locationWordsOf,
  stateDirOf,
} from './location-options.ts';
import { findSignedIn } from './signed-in.ts';
import { tokenAt } from './token-file.ts';

export interface Target {
  readonly url: string;
  readonly token: string | TokenSource;
  /** Sends what a proxy on the way wants besides; the global one otherwise. */
  readonly fetch?: typeof fetch;
  /** Null if this machine has no key. The bridge of a Drawbridge elsewhere may not know the key. */
  readonly device: Device | null;
  /** This folder's bridge on a shared server; null before it connects. Undefined: the server chooses. */
  readonly bridgeId?: string | null;
  /** The bridge of this folder, where it runs on this machine. */
  readonly own?: OwnBridge | undefined;
}

/** The bridge of a folder, and where it keeps its state. */
export interface OwnBridge {
  readonly bridgeId: string;
  readonly stateDir: string;
}

export interface TargetOptions extends LocationOptions {
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

/** Adds the options that name the Drawbridge. */
export function addTargetOptions(command: Command): Command {
  command
    .option('--url <url>', 'another Drawbridge server (default: the one running for the workspace)')
    .option('--token-file <file>', 'the file with the token for --url (default: your login there)')
    .option('--token <token>', 'the token itself, which other users of the machine can see');
  return addLocationOptions(command);
}

/** This machine has no session and no token at a Drawbridge elsewhere. */
export class NotSignedIn extends UsageError {}

/** @throws {UsageError} for a bad `--url`, or for a token without one. @throws {LocalError} if none runs. */
export async function findTarget(options: TargetOptions): Promise<Target> {
  const { url, tokenFile } = options;
  if (url === undefined && options.token === undefined && tokenFile === undefined) {
    return await findLocalTarget(options);
  }
  if (url === undefined) throw new UsageError('--token and --token-file go with --url.');
  if (!URL.canParse(url)) throw new UsageError(`--url takes a URL like https://…, not ${url}.`);
  const login = tokenFile === undefined ? await findSignedIn(url, options) : undefined;
  // A token in the environment may be of another server than the one that is named here.
  const given = options.token ?? (login ? undefined : tokenAt(options));
  const end = given && nearEndOf(given, new Date());
  if (end) printErr(`drawbridge: the token ends at ${end}: get a new one.\n`);
  const session = given === undefined ? login : { token: given };
  if (session) return { url, device: await ownDevice(options), ...session };
  throw new NotSignedIn(
    `This machine is not signed in at ${url}: run \`${ownCommand('login', url)}\`, or give --token-file.`,
  );
}

/** This machine's device, for a Drawbridge elsewhere: a person may have enrolled it at a bridge there. */
async function ownDevice(options: LocationOptions): Promise<Device | null> {
  const device = await readDevice(await stateDirOf(options));
  return device ? { deviceId: device.deviceId, privateJwk: device.privateKey } : null;
}

/** The options as words of a command line. `TOKEN` stands in for the token. */
export function targetWordsOf({ url, token, tokenFile, ...location }: TargetOptions): string[] {
  return [
    ...(url ? ['--url', url] : []),
    ...(tokenFile ? ['--token-file', tokenFile] : []),
    ...(token ? ['--token', 'TOKEN'] : []),
    ...locationWordsOf(location),
  ];
}

async function findLocalTarget(options: LocationOptions): Promise<Target> {
  const place = await findKept(options, 'running');
  const remote = await remoteTarget(place, options);
  if (remote) return remote;
  const instance = await findInstanceIn(place.serverDir);
  if (!instance) {
    const where = place.workspaceDir ?? place.serverDir;
    throw new LocalError(
      'failed',
      `No Drawbridge runs for ${where} or a folder above it: start one with ` +
        `\`${ownCommand('start')}\`, or give --workspace, --state or --url.`,
    );
  }
  const server = await openServerState(place.serverDir);
  const { deviceId, privateKey } = server.device;
  const own = await ownBridge(place);
  return {
    url: instance.url,
    token: await readUserToken(server, new Date()),
    device: { deviceId, privateJwk: privateKey },
    ...(place.kind === 'shared' && { bridgeId: own?.bridgeId ?? null }),
    own,
  };
}

/** The Drawbridge elsewhere that this folder is connected to. @throws {LocalError} if this machine is not signed in there. */
async function remoteTarget(
  place: KeptPlace,
  options: LocationOptions,
): Promise<Target | undefined> {
  const url = place.projectDir && (await readRemote(place.projectDir));
  if (!url) return undefined;
  const session = await findSignedIn(url, options);
  if (!session) {
    const again = `This folder is connected to ${url}, where this machine is not signed in: \`${ownCommand('login', url)}\` signs it in.`;
    throw new LocalError('refused', again);
  }
  const own = await ownBridge(place);
  const device = await ownDevice(options);
  return { url, device, bridgeId: own?.bridgeId ?? null, own, ...session };
}

async function ownBridge({ projectDir }: KeptPlace): Promise<OwnBridge | undefined> {
  const bridgeId = projectDir === undefined ? undefined : await readBridgeId(projectDir);
  return projectDir && bridgeId ? { bridgeId, stateDir: projectDir } : undefined;
}
