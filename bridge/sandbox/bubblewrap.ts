/** Finds bubblewrap, and what this version of it can do. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMMAND_LIMITS } from '../../shared/limits.ts';
import { seccompProgram } from './seccomp.ts';

export interface Bubblewrap {
  readonly file: string;
  readonly version: string;
  /** Since 0.8. Before, only the seccomp program keeps commands from making namespaces of their own. */
  readonly canDisableUserNamespaces: boolean;
  readonly seccompProgram: Uint8Array;
}

/** Looks for it; `reason` is one sentence that says what to do. */
export async function findBubblewrap(): Promise<
  { readonly ok: true; readonly bubblewrap: Bubblewrap } | { readonly ok: false; reason: string }
> {
  if (process.platform !== 'linux') {
    return {
      ok: false,
      reason: `There is no sandbox for ${process.platform} yet, only for Linux.`,
    };
  }
  const filter = seccompProgram();
  if (filter === undefined) {
    return { ok: false, reason: `There is no system call filter for ${process.arch} processors.` };
  }
  const file = await findFile();
  if (file === undefined) {
    return {
      ok: false,
      reason:
        'bubblewrap is not installed: install the package "bubblewrap" and start the bridge again.',
    };
  }
  const version = await versionOf(file);
  const canDisableUserNamespaces = isAtLeast(version, [0, 8]);
  return {
    ok: true,
    bubblewrap: { file, version, canDisableUserNamespaces, seccompProgram: filter },
  };
}

/** Where systems install it. Not PATH: its folders may be inside the workspace, where a command could plant its own. */
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin'] as const;

async function findFile(): Promise<string | undefined> {
  for (const folder of FOLDERS) {
    const file = join(folder, 'bwrap');
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here, or not for us: look in the next folder.
    }
  }
  return undefined;
}

/** `0.0.0` for one that does not say: the self-test decides whether it will do. */
async function versionOf(file: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(file, ['--version'], {
      env: {},
      timeout: COMMAND_LIMITS.probeTimeoutMs,
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
