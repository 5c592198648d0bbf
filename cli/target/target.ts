/** Finds the Drawbridge that a command talks to: the one at a URL, or the one that runs for a workspace. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Device } from '../../client/index.ts';
import { readDevice } from '../../local/state/device.ts';
import { sharedServerDir } from '../../local/state/folder.ts';
import { findInstance } from '../../local/state/running.ts';
import { openState, readUserToken } from '../../local/state/state.ts';
import { LocalError } from '../../machine/local-error.ts';
import { ownCommand } from '../terminal/own-command.ts';
import { UsageError } from '../terminal/usage-error.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
  locationWordsOf,
} from './location-options.ts';

export interface Target {
  readonly url: string;
  readonly token: string;
  /** Null if this machine has no key. The bridge of a Drawbridge elsewhere may not know the key. */
  readonly device: Device | null;
}

export interface TargetOptions extends LocationOptions {
  readonly url?: string;
  readonly token?: string;
}

/** Adds the options that name the Drawbridge. */
export function addTargetOptions(command: Command): Command {
  command
    .option('--url <url>', 'a Drawbridge elsewhere (default: the one running for the workspace)')
    .option('--token <token>', 'the bearer token for --url');
  return addLocationOptions(command);
}

/** @throws {UsageError} for a bad `--url`, or for one option without the other. @throws {LocalError} if none runs. */
export async function findTarget(options: TargetOptions): Promise<Target> {
  const { url, token } = options;
  if (url === undefined && token === undefined) return await findLocalTarget(options);
  if (url === undefined || token === undefined) {
    throw new UsageError('--url and --token go together: give both, or neither.');
  }
  if (!URL.canParse(url)) throw new UsageError(`--url takes a URL like https://…, not ${url}.`);
  return { url, token, device: await ownDevice(options) };
}

/** This machine's device, for a Drawbridge elsewhere: a person may have enrolled it at a bridge there. */
async function ownDevice({ state }: LocationOptions): Promise<Device | null> {
  const device = await readDevice(state === undefined ? await sharedServerDir() : resolve(state));
  return device ? { deviceId: device.deviceId, privateJwk: device.privateKey } : null;
}

/** The options as words of a command line. `TOKEN` stands in for the token. */
export function targetWordsOf({ url, token, ...location }: TargetOptions): string[] {
  return [
    ...(url ? ['--url', url] : []),
    ...(token ? ['--token', 'TOKEN'] : []),
    ...locationWordsOf(location),
  ];
}

async function findLocalTarget(options: LocationOptions): Promise<Target> {
  const location = await findLocation(options, 'running');
  const instance = await findInstance(location);
  if (!instance) {
    throw new LocalError(
      'failed',
      `No Drawbridge runs for ${location.workspaceDir} or a folder above it: start one with ` +
        `\`${ownCommand('up')}\`, or give --workspace, --state or --url.`,
    );
  }
  const state = await openState(location);
  const { deviceId, privateKey } = state.device;
  const token = await readUserToken(state, new Date());
  return { url: instance.url, token, device: { deviceId, privateJwk: privateKey } };
}
