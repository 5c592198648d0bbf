/** What it takes to start a command: made by the sandbox, started by this room. */
import { existsSync } from 'node:fs';

/** A program with all it is given. */
export interface Launch {
  /** Absolute: a name would be looked for in folders that a command may have written to. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes that the program reads from descriptors 3, 4, ... */
  readonly inputs: readonly Uint8Array[];
  /** Open descriptors of this process that the program gets after its inputs. */
  readonly descriptors?: readonly number[];
  /** Whether the command runs in a PID namespace below the program, so that all of it dies with the program. */
  readonly hasPidNamespace: boolean;
}

/** The shell of every command: what models write is Bash, and without it the system's own shell is near enough. */
export const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/**
 * A command line as a program and its arguments. Both outputs share one pipe, so that their lines keep the order they
 * were written in.
 */
export function shellArgv(command: string): readonly [file: string, ...args: string[]] {
  return ['/bin/sh', '-c', 'exec "$0" -c "$1" 2>&1', SHELL, command];
}
