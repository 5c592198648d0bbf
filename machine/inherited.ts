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
const INHERITED: readonly number[] = inheritedDescriptors();

/** Replaces each inherited descriptor in a new process. */
const NOTHING: number = INHERITED.length === 0 ? -1 : openSync('/dev/null', 'r');

export type StdioItem = 'ignore' | 'pipe' | 'ipc' | number;

/** The `stdio` of a new process that gets these and no inherited descriptor: `ignore` would leave that open. */
export function withoutInherited(given: readonly StdioItem[]): StdioItem[] {
  const others = INHERITED.filter((descriptor) => descriptor >= given.length);
  const length = Math.max(given.length, ...others.map((descriptor) => descriptor + 1));
  return Array.from({ length }, (_, descriptor) =>
    others.includes(descriptor) ? NOTHING : (given[descriptor] ?? 'ignore'),
  );
}

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
