/** The permission `network` in a proposal: the word for the whole network, or `network:pypi.org` for each host. */

import type * as z from 'zod';
import { WHOLE_NETWORK } from '../text/hosts.ts';
import { REGISTRIES } from './registries.ts';
import type { Permission, runTerminalCmd } from './run-terminal-cmd.ts';

type Arguments = z.infer<(typeof runTerminalCmd)['arguments']>;

interface Wishes {
  readonly permissions?: Readonly<Arguments['permissions']>;
  readonly hosts?: Readonly<Arguments['hosts']>;
}

/** The permissions that a command wants: a command that names hosts wants the network. */
export function permissionsWanted({ permissions = [], hosts = [] }: Wishes): readonly Permission[] {
  return [...new Set([...permissions, ...(hosts.length > 0 ? (['network'] as const) : [])])];
}

/** The hosts that a command wants; undefined for no network of its own. `canName`: hosts can be opened by name. */
export function hostsWanted(wishes: Wishes, canName: boolean): readonly string[] | undefined {
  const { hosts = [] } = wishes;
  const permissions = permissionsWanted(wishes);
  if (!permissions.includes('network') || permissions.includes('all')) return undefined;
  if (!canName || hosts.includes(WHOLE_NETWORK)) return [WHOLE_NETWORK];
  return [...new Set([...REGISTRIES, ...hosts.map((host) => host.toLowerCase())])].sort();
}

/** The permissions of a proposal: see above. */
export function shownPermissions(
  permissions: readonly string[],
  hosts: readonly string[] | undefined,
): string[] {
  const others = permissions.filter(
    (permission) => permission !== 'network' || hosts === undefined,
  );
  const isWhole = hosts?.includes(WHOLE_NETWORK) === true;
  const named = isWhole ? ['network'] : (hosts ?? []).map((host) => `${NAMED}${host}`);
  return [...new Set([...others, ...named])].sort();
}

/** The hosts among the permissions of a proposal. */
export function hostsIn(permissions: readonly string[]): string[] {
  return permissions
    .filter((permission) => permission.startsWith(NAMED))
    .map((permission) => permission.slice(NAMED.length));
}

const NAMED = 'network:';
