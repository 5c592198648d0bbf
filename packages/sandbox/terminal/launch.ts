/** What is needed to start a command. `sandbox/` makes it, `terminal/` starts it. */
import { existsSync } from 'node:fs';
import { reportingScript } from './shell-report.ts';

/** A program with its arguments, environment and descriptors. */
export interface Launch {
  /** Absolute: the system would look a name up in folders that a command may have written to. */
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. Nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** Bytes that the program reads from descriptors 3, 4, ... */
  readonly inputs: readonly Uint8Array[];
  /** Open descriptors of this process that the program gets after its inputs. */
  readonly descriptors?: readonly number[];
  /**
   * Whether the command runs in a PID namespace below the program, so that all its processes die with the program. The
   * program then reports, by `--info-fd`, on the descriptor behind all others: see {@link reportDescriptor}.
   */
  readonly hasPidNamespace: boolean;
  /**
   * Instead of a PID namespace of its own, one that the command shares with others. It begins when it is allowed to, on
   * the descriptor behind the report: see {@link startDescriptor}.
   */
  readonly shared?: SharedProcesses | undefined;
  /**
   * The variables of the shell's start, where it reports its end on the last descriptor of all: see {@link
   * shellDescriptor}.
   */
  readonly shellBegins?: Readonly<Record<string, string>> | undefined;
}

/** A PID namespace in which several commands run. */
export interface SharedProcesses {
  /**
   * Takes hold of the processes of a command by the number inside of its first one, which has not begun. Undefined where
   * that has gone.
   */
  readonly hold: (first: number) => HeldProcesses | undefined;
}

/** All processes of one command, whatever they do to leave it. */
export interface HeldProcesses {
  /** Whether none of them is left. */
  readonly areGone: () => boolean;
  /** Kills what is left. Resolves when it has gone, or when no signal ends it. The caller calls it once, at the end. */
  readonly end: () => Promise<void>;
}

/** Where bubblewrap reports its first process, if the launch has so many inputs and descriptors. */
export function reportDescriptor(others: number): number {
  return FIRST_INPUT + others;
}

/** Where a program that shares a PID namespace waits for a line before it begins. */
export function startDescriptor(others: number): number {
  return reportDescriptor(others) + 1;
}

/** What stands between a program and the processes of its command. */
export interface PidNamespaceUse {
  readonly hasPidNamespace: boolean;
  /** Then a program that joins the namespace stands before the sandbox. */
  readonly isShared?: boolean;
}

/** Where the command's shell reports its end. */
export function shellDescriptor(
  others: number,
  { hasPidNamespace, isShared = false }: PidNamespaceUse,
): number {
  return FIRST_INPUT + others + (hasPidNamespace ? 1 : 0) + (isShared ? 1 : 0);
}

/** The descriptor of a launch's first input. The other inputs and descriptors follow. */
export const FIRST_INPUT = 3;

/** The shell of every command. Models write Bash. Where Bash is missing, the system's shell is similar enough. */
export const SHELL = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh';

/**
 * The options of each start of {@link SHELL}. Bash takes an input that is a socket, as Node's pipes are, for a login from
 * afar, and would run the person's `.bashrc` first.
 */
export const SHELL_OPTIONS: readonly string[] = SHELL === '/bin/bash' ? ['--norc'] : [];

/**
 * A command line as a program and its arguments. Both outputs share one pipe, so that their lines keep their order.
 * `report` is the descriptor on which the shell reports its end.
 */
export function shellArgv(
  command: string,
  report?: number,
): readonly [file: string, ...args: string[]] {
  const first: readonly [string, ...string[]] =
    report === undefined ? ['/bin/sh'] : [SHELL, ...SHELL_OPTIONS];
  return [...first, '-c', `exec 2>&1; ${shellScript(report)}`, SHELL, command];
}

/** Runs the line `$1`: in a new shell `$0`, or in the same one, which then is `$0` too, where that reports its end. */
export function shellScript(report?: number): string {
  const start = ['exec "$0"', ...SHELL_OPTIONS, '-c "$1"'].join(' ');
  return report === undefined ? start : reportingScript(report);
}
