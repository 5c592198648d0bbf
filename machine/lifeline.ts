/** Makes a child process end when this process ends, even by SIGKILL. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Kills the child if this process ends without a chance to do so (SIGKILL, a crash). A shell reads from a pipe that
 * only this process holds: a line means that the child is gone, the pipe's end means that this process is gone.
 * This needs no polling, so it leaves no gap, and works on both Linux and macOS (`prctl` and `kqueue` do not).
 */
export function tieToUs(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const guard = spawn(
    '/bin/sh',
    ['-c', 'read -r _ || kill -KILL "$1"', GUARD_NAME, `${child.pid}`],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      // Outside the terminal's process group: Ctrl-C must not end the guard before the child.
      detached: true,
    },
  );
  // Writing to a killed guard fails; no guard needs it then.
  guard.stdin.on('error', () => {});
  // Written as soon as the child ends: the system may then give its pid to another program.
  child.once('exit', () => guard.stdin.end('gone\n'));
}

/** The guard's name in `ps`. */
const GUARD_NAME = 'drawbridge-lifeline';
