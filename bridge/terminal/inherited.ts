/** Descriptors that this process got from its parent. No command may have them. */
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs';

const STANDARD_ERROR = 2;
/** From `<fcntl.h>`; Node lacks it. */
const O_CLOEXEC = 0o2000000;

/**
 * Open descriptors that every child of this process would inherit. An editor's terminal or a script may have left some
 * to the bridge. A folder's descriptor leads out of any sandbox. Node closes only the low ones for its children, and
 * those that it opens itself.
 */
export const INHERITED: readonly number[] = inheritedDescriptors();

/** Replaces each inherited descriptor in a new process. */
export const NOTHING: number = INHERITED.length === 0 ? -1 : openSync('/dev/null', 'r');

/** Reads proc_pid_fdinfo(5). None where there is no `/proc`; a sandbox does not exist there either. */
function inheritedDescriptors(): number[] {
  if (!existsSync('/proc/self/fdinfo')) return [];
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > STANDARD_ERROR && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? '0', 8);
    return (flags & O_CLOEXEC) === 0;
  } catch {
    return false; // The descriptor that listed the folder, which is closed.
  }
}
