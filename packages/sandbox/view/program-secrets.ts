/** Finds what may hold secrets in a folder of programs that lies neither in the system's folders nor at home. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MIB } from '../../../shared/units.ts';
import { closureOf } from '../../workspace/index.ts';

/** A secret-named file or folder, by its path from the folder. */
export interface ProgramSecret {
  readonly path: string;
  readonly isFolder: boolean;
}

/** Entries of a folder of programs that are looked at, once at the start: a conda environment has 200,000. */
const MAX_ENTRIES = 300_000;
/** Each becomes a mount. A folder of programs with more holds something else. */
const MAX_SECRETS = 50;
/** Bytes of a certificate file: the list of all public authorities has 0.3 MB. */
const MAX_CERTIFICATES = MIB;

/** Undefined for a folder that cannot be searched as a whole. */
export async function secretsAmongPrograms(
  folder: string,
): Promise<readonly ProgramSecret[] | undefined> {
  const found: ProgramSecret[] = [];
  const pending = [''];
  let looked = 0;
  try {
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
        if (++looked > MAX_ENTRIES) return undefined;
        const path = at === '' ? entry.name : `${at}/${entry.name}`;
        // A link leads to a place that is shown by its own name, or not at all.
        if (entry.isSymbolicLink()) continue;
        const isFolder = entry.isDirectory();
        const isSecret = closureOf(path) === 'secret';
        if (isSecret && (isFolder || !(await isPublic(join(folder, path))))) {
          // A name that is not UTF-8 cannot be mounted on by this text.
          if (path.includes('\ufffd') || found.length === MAX_SECRETS) return undefined;
          found.push({ path, isFolder });
        } else if (isFolder) pending.push(path);
      }
    }
    return found;
  } catch {
    return undefined;
  }
}

/** Programs bring certificates of authorities as `cacert.pem`. Only a private key makes such a file a secret. */
async function isPublic(path: string): Promise<boolean> {
  if (!/\.(?:pem|crt|cer)$/i.test(path)) return false;
  await using file = await open(path, 'r');
  const { size } = await file.stat();
  return size <= MAX_CERTIFICATES && !(await file.readFile('latin1')).includes('PRIVATE KEY');
}
