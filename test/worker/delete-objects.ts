/** The end of a test file: no object of it keeps data or an alarm. */
import { listDurableObjectIds, reset, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { accountsCalled, standsAt } from './api.ts';

/** Objects of earlier files: the runtime lists an object for ever, also when it is empty. */
const earlier = new Set<string>();

/**
 * `reset` deletes only objects in memory: one that a test aborted and did not wake again would keep its data, and its
 * alarm would run in a later file. So it wakes each object that the file can have left behind first.
 */
export async function deleteObjects(): Promise<void> {
  const accounts = [...accountsCalled].map((name) => env.ACCOUNTS.getByName(name));
  await wake([...accounts, ...(await newObjects())]);
  await reset();
  accountsCalled.clear();
  standsAt.clear();
}

async function newObjects(): Promise<DurableObjectStub[]> {
  const namespaces = [
    env.ACCOUNTS,
    env.CONVERSATIONS,
    env.DIRECTORY,
    env.TUNNELS,
  ] as DurableObjectNamespace[];
  const stubs = await Promise.all(
    namespaces.map(async (namespace) =>
      (await listDurableObjectIds(namespace))
        .filter((id) => !earlier.has(String(id)))
        .map((id) => namespace.get(id)),
    ),
  );
  for (const { id } of stubs.flat()) earlier.add(String(id));
  return stubs.flat();
}

/** One that refuses to start, as tests of damaged data leave it, is in memory nevertheless. */
async function wake(stubs: readonly DurableObjectStub[]): Promise<void> {
  await Promise.allSettled(stubs.map((stub) => runInDurableObject(stub, () => undefined)));
}
