/** The file of a bridge's grants: the accounts that its owner lets in, and what each may do at most. */
import { join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../machine/local-error.ts';
import { takeLock } from '../../machine/lock.ts';
import { readIfThere, replaceFile } from '../../machine/private-files.ts';
import { DrawbridgeError, invalidRequest } from '../../shared/errors.ts';
import { GRANT_LIMITS } from '../../shared/limits.ts';
import { parseIfJson } from '../../shared/text/json.ts';
import { AccountGrant } from '../../shared/wire/grants.ts';

const GrantFile = z.strictObject({
  grants: z
    .array(z.strictObject(AccountGrant.shape))
    .max(GRANT_LIMITS.maxGrants)
    .refine((grants) => new Set(grants.map(({ name }) => name)).size === grants.length, {
      error: 'a name is there twice',
    }),
});

/** The grants; none without the file. Throws for a wrong file, which then lets no one in. */
export async function readGrants(stateDir: string): Promise<readonly AccountGrant[]> {
  const path = join(stateDir, FILE);
  const text = await readIfThere(path);
  if (text === undefined) return [];
  const parsed = GrantFile.safeParse(parseIfJson(text));
  if (parsed.success) return parsed.data.grants;
  const { message } = invalidRequest(parsed.error);
  throw new DrawbridgeError('NOT_CONFIGURED', `${path} is no file of grants: ${message}.`);
}

/**
 * Replaces the list of grants. Two processes change it one after the other.
 * @throws {LocalError} for a wrong file, which stays as it is, and while another process changes it.
 */
export async function changeGrants(
  stateDir: string,
  change: (grants: readonly AccountGrant[]) => readonly AccountGrant[],
): Promise<void> {
  const lock = takeLock(join(stateDir, `${FILE}.lock`));
  if (!lock.isTaken) {
    throw new LocalError('refused', 'Another command changes the grants: try again.');
  }
  using _ = lock;
  const grants = change(await readOrRefuse(stateDir));
  replaceFile(join(stateDir, FILE), `${JSON.stringify({ grants }, undefined, 2)}\n`);
}

async function readOrRefuse(stateDir: string): Promise<readonly AccountGrant[]> {
  try {
    return await readGrants(stateDir);
  } catch (cause) {
    if (!(cause instanceof DrawbridgeError)) throw cause;
    const todo = 'Until you repair or remove it, it lets no one in.';
    throw new LocalError('refused', `${cause.message} ${todo}`, { cause });
  }
}

const FILE = 'grants.json';
