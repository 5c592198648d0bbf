/** Finds bubblewrap and the features of its version. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../../../machine/programs.ts';
import { SANDBOX_LIMITS } from '../limits.ts';
import { seccompProgram } from './seccomp.ts';

export interface Bubblewrap {
  readonly file: string;
  readonly version: string;
  /** True since 0.8. In older versions only the seccomp program keeps commands from making namespaces of their own. */
  readonly canDisableUserNamespaces: boolean;
  /** The program that enters a base. Undefined where it is not installed: then each command gets mounts of its own. */
  readonly nsenter: string | undefined;
  /** Starts a program in a PID namespace that others use too. Without it each command has one of its own. */
  readonly unshare: string | undefined;
  readonly seccompProgram: Uint8Array;
}

/** `reason` is one sentence that says what to do. */
export async function findBubblewrap(): Promise<
  { readonly ok: true; readonly bubblewrap: Bubblewrap } | { readonly ok: false; reason: string }
> {
  if (process.platform !== 'linux') {
    return {
      ok: false,
      reason: `There is no sandbox for ${process.platform} yet, only for Linux and macOS.`,
    };
  }
  const filter = seccompProgram();
  if (filter === undefined) {
    return { ok: false, reason: `There is no system call filter for ${process.arch} processors.` };
  }
  const file = await findProgram('bwrap');
  if (file === undefined) {
    return {
      ok: false,
      reason:
        'bubblewrap is not installed: install the package "bubblewrap" and start the bridge again.',
    };
  }
  const version = await versionOf(file);
  const canDisableUserNamespaces = isAtLeast(version, [0, 8]);
  const [nsenter, unshare] = await Promise.all(['nsenter', 'unshare'].map(findProgram));
  return {
    ok: true,
    bubblewrap: {
      file,
      version,
      canDisableUserNamespaces,
      nsenter,
      unshare,
      seccompProgram: filter,
    },
  };
}

/**
 * The number of a published fault that bubblewrap of this version has, unless a distribution has fixed it under the old
 * number. CVE-2026-87766 (GHSA-pxhw-h44j-8pfx, fixed in 0.12.0): while mounts are made, a link above a mount point led to
 * files of the machine.
 */
export function knownFaultOf(version: string): string | undefined {
  return isAtLeast(version, [0, 12]) ? undefined : 'CVE-2026-87766';
}

/** `0.0.0` for a program that does not print its version. The self-test then decides whether it works. */
async function versionOf(file: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], {
      env: {},
      timeout: SANDBOX_LIMITS.probeMs,
    });
    return /\d+\.\d+(?:\.\d+)?/.exec(stdout)?.[0] ?? '0.0.0';
  } catch {
    return '0.0.0';
  }
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
