/** `drawbridge token`: prints a bearer token, for the local instance or for a Drawbridge that is hosted elsewhere. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  openServerState,
  openState,
  readAuthSecret,
  readBridgeId,
  readMetricsToken,
  readUserToken,
} from '../../local/state/state.ts';
import { mintToken, type TokenGrant } from '../../local/state/tokens.ts';
import { LocalError } from '../../machine/local-error.ts';
import { BridgeId, newBridgeId } from '../../shared/ids.ts';
import { DAY } from '../../shared/units.ts';
import { MAX_TOKEN_DAYS } from '../../shared/wire/tokens.ts';
import { parseAccount } from '../target/account-name.ts';
import {
  addLocationOptions,
  findKept,
  type KeptPlace,
  type LocationOptions,
} from '../target/location-options.ts';
import { readSecret } from '../target/secret-file.ts';
import { printErr, printOut } from '../terminal/print.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { wholeNumber } from '../terminal/whole-number.ts';

interface TokenCommandOptions extends LocationOptions {
  readonly scope: 'user' | 'bridge' | 'metrics';
  readonly for?: string;
  readonly secretFile?: string;
  readonly bridgeId?: string;
  readonly days?: number;
}

export function registerToken(program: Command): void {
  const command = program
    .command('token')
    .description('Print a bearer token for the API: of a local instance, or of a hosted one')
    .addOption(
      new Option(
        '--scope <scope>',
        'what it allows: everything that you may do, running a bridge, or GET /metrics',
      )
        .choices(['user', 'bridge', 'metrics'])
        .default('user'),
    )
    .option('--for <account>', 'for this account of a hosted Drawbridge', parseAccount)
    .option('--secret-file <file>', 'the file with its AUTH_SECRET; goes with --for')
    .option(
      '--bridge-id <id>',
      'the bridge that the token is for, or that its messages go to',
      parseBridgeId,
    )
    .option(
      '--days <number>',
      'how long the token is valid (default: 30 days)',
      wholeNumber(1, MAX_TOKEN_DAYS),
    );
  addLocationOptions(command).action(async (options: TokenCommandOptions) => {
    printOut(`${await tokenOf(options)}\n`);
  });
}

async function tokenOf(options: TokenCommandOptions): Promise<string> {
  const { for: account, secretFile, bridgeId, days, workspace, state } = options;
  const isLocal = workspace !== undefined || state !== undefined;
  if (account === undefined && secretFile === undefined) {
    if (bridgeId === undefined && days === undefined) return await localTokenOf(options);
    throw new UsageError('--bridge-id and --days go with --for and --secret-file.');
  }
  if (account === undefined || secretFile === undefined) {
    throw new UsageError('--for and --secret-file go together: give both, or neither.');
  }
  if (isLocal) throw new UsageError('--for takes no --workspace and no --state.');
  const grant = grantOf(options);
  const secret = await readSecret(secretFile);
  const lifeMs = days === undefined ? undefined : days * DAY;
  return await mintToken(secret, grant, new Date(), { account, lifeMs });
}

/** With `--state` creates nothing but the kept token. In a folder of a server for several the token names its bridge. */
async function localTokenOf(options: TokenCommandOptions): Promise<string> {
  const { scope, state } = options;
  const place = await findKept(options, 'running');
  const { serverDir: dir, projectDir } = place;
  const server =
    state === undefined
      ? await openServerState(dir)
      : { dir, authSecret: await readAuthSecret(dir) };
  if (scope === 'metrics') return await readMetricsToken(server);
  const bridgeId = projectDir && (await readBridgeId(projectDir));
  if (scope === 'user') {
    const project = place.kind === 'shared' && projectDir && bridgeId && { projectDir, bridgeId };
    return await readUserToken(server, new Date(), project || undefined);
  }
  const found = bridgeId ?? (await madeBridge(options, place));
  return await mintToken(server.authSecret, { scope, bridgeId: found }, new Date());
}

/** The bridge of a folder that was never connected. @throws {LocalError} where there is no such folder. */
async function madeBridge(
  options: TokenCommandOptions,
  { workspaceDir }: KeptPlace,
): Promise<string> {
  if (workspaceDir === undefined) {
    throw new LocalError('refused', 'No folder has been connected here, so there is no bridge.');
  }
  return (await openState({ ...options, workspaceDir })).bridgeId;
}

function grantOf({ scope, bridgeId }: TokenCommandOptions): TokenGrant {
  if (scope === 'metrics') {
    throw new UsageError(
      '--for does not go with --scope metrics: a hosted Worker has a METRICS_TOKEN of its own.',
    );
  }
  if (scope === 'bridge') {
    const id = bridgeId ?? newBridgeId(crypto.randomUUID());
    if (!bridgeId) printErr(`The token is for a new bridge. Renew it with --bridge-id ${id}.\n`);
    return { scope, bridgeId: id };
  }
  return { scope, bridgeId };
}

function parseBridgeId(text: string): string {
  if (BridgeId.safeParse(text).success) return text;
  throw new InvalidArgumentError('A bridge has an id like bridge_… with a UUID.');
}
