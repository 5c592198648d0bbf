/** The protected things of a workspace, from the one scan that the sandbox makes its mounts of. */
import { fromText } from '../sandbox/byte-path.ts';
import { SANDBOX_LIMITS } from '../sandbox/limits.ts';
import { WorkspaceScan } from '../sandbox/scan.ts';
import { type ByteName, toByteName } from './byte-names.ts';

export interface ProtectedThing {
  /** Absolute and real. */
  readonly path: ByteName;
  /** The same as long as it is the same file or folder, wherever it is moved. */
  readonly identity: string;
}

export type ListProtected = () => Promise<readonly ProtectedThing[]>;

/** The only place of this room that knows the scan. */
export function protectedIn(workspace: string): ListProtected {
  const scan = new WorkspaceScan(fromText(workspace));
  return async () => {
    const { entries } = await scan.look(SANDBOX_LIMITS.scanMs);
    return entries
      .filter(({ closure }) => closure === 'protected')
      .map(({ path, identity }) => ({ path: toByteName(path), identity }));
  };
}
