/** What this process got from the one that started it, and no command may have. */
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs';

const STANDARD_ERROR = 2;
/** In `<fcntl.h>`, not in Node. */
const O_CLOEXEC = 0o2000000;

/**
 * Open descriptors that every program started by this one would inherit: an editor's terminal or a script may have left
 * some to the bridge. One of a folder leads out of any sandbox. Node keeps only the low ones from its children, and
 * those that it opens itself.
 */
export const INHERITED: readonly number[] = inheritedDescriptors();

/** Takes the place of each in a new process. */
export const NOTHING: number = INHERITED.length === 0 ? -1 : openSync('/dev/null', 'r');

/** By proc_pid_fdinfo(5). None where there is no `/proc`, nor a sandbox. */
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
    return false; // The one that the folder was listed by.
  }
}
