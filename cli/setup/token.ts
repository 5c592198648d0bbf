/** `drawbridge token`: prints a bearer token for a local instance. */
import { type Command, Option } from 'commander';
import { openState, readUserToken } from '../../local/state/state.ts';
import { mintToken } from '../../local/state/tokens.ts';
import {
  addLocationOptions,
  findLocation,
  type LocationOptions,
} from '../target/location-options.ts';

interface TokenOptions extends LocationOptions {
  readonly scope: 'user' | 'bridge';
}

export function registerToken(program: Command): void {
  const command = program
    .command('token')
    .description('Print a bearer token for the API of a local instance')
    .addOption(
      new Option('--scope <scope>', 'what the token allows: all that you may do, or only a bridge')
        .choices(['user', 'bridge'])
        .default('user'),
    );
  addLocationOptions(command).action(async (options: TokenOptions) => {
    process.stdout.write(`${await tokenOf(options)}\n`);
  });
}

async function tokenOf(options: TokenOptions): Promise<string> {
  const state = await openState(await findLocation(options, 'running'));
  const { authSecret, bridgeId } = state;
  const now = new Date();
  if (options.scope === 'user') return await readUserToken(state, now);
  return await mintToken(authSecret, { scope: 'bridge', bridgeId }, now);
}
