/** Whose computations run: those of each workspace stand in a line of their own. */
import { AsyncLocalStorage } from 'node:async_hooks';

const owners = new AsyncLocalStorage<string>();

/** Everything that `work` begins, now and later, computes for this workspace. */
export function computeFor<T>(workspace: string, work: () => T): T {
  return owners.run(workspace, work);
}

/** The workspace that is computed for. One line for what belongs to none. */
export function currentOwner(): string {
  return owners.getStore() ?? '';
}
