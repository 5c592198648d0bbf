/** Ties a process that knows nothing of us to our own life. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Kills the child when this process ends in a way that leaves it no time to do so (SIGKILL, a crash). A shell of its own
 * waits at a pipe that only this process holds: a line means the child is gone, the pipe's end that we are. No
 * polling, so no moment between, and it is the same on Linux and macOS (`prctl` and `kqueue` are not).
 */
export function tieToUs(child: ChildProcess): void {
  if (child.pid === undefined) return;
  const guard = spawn(
    '/bin/sh',
    ['-c', 'read -r _ || kill -KILL "$1"', GUARD_NAME, `${child.pid}`],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
      // Out of the terminal's group: Ctrl-C must not end the guard before the guarded.
      detached: true,
    },
  );
  // A guard that was killed takes no line; then there is nobody to tell.
  guard.stdin.on('error', () => {});
  // Said as soon as the child is gone: from then on its pid may be given to another program.
  child.once('exit', () => guard.stdin.end('gone\n'));
}

/** What `ps` shows it as. */
const GUARD_NAME = 'drawbridge-lifeline';
