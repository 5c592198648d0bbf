/** The names of the folders that bridges work in. */
import { basename } from 'node:path';
import type { Client } from '../../client/index.ts';

/** By the bridge's id. Empty where the list cannot be read: names are a help, and no reason to fail. */
export async function foldersOf(
  client: Pick<Client, 'listBridges'>,
): Promise<ReadonlyMap<string, string>> {
  try {
    const { items } = await client.listBridges();
    return new Map(items.map(({ id, workspacePath }) => [id, basename(workspacePath)]));
  } catch {
    return new Map();
  }
}
