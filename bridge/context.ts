/** What the prompt is told about this machine and its workspace. */
import { execFile } from 'node:child_process';
import { type as osType, release } from 'node:os';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { CONTEXT_LIMITS } from '../shared/limits.ts';
import type { MachineContext } from '../shared/tunnel.ts';
import { listFiles } from './tools/file-list.ts';

/** Looks at the workspace as it is now. Git is asked without running anything that the repository configures. */
export async function readMachineContext(
  root: string,
  signal: AbortSignal,
): Promise<MachineContext> {
  const [projectLayout, gitStatus] = await Promise.all([
    readLayout(root, signal),
    readGitStatus(root, signal),
  ]);
  return {
    os: `${osType()} ${release()}`,
    shell: basename(process.env['SHELL'] ?? 'sh'),
    workspacePath: root,
    projectLayout,
    ...(gitStatus !== undefined && { gitStatus }),
  };
}

async function readLayout(root: string, signal: AbortSignal): Promise<string> {
  try {
    return formatLayout(await listFiles({ folder: root, signal }));
  } catch {
    signal.throwIfAborted();
    return ''; // A folder that cannot be listed: the tools will say why when they are used.
  }
}

/** Files as an indented tree, folders first seen first named, cut at the limits. */
export function formatLayout(files: readonly string[]): string {
  const lines: string[] = [];
  const folders = new Set<string>();
  for (const file of [...files].sort()) {
    const parts = file.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      if (!folders.has(folder)) lines.push(`${'  '.repeat(depth - 1)}${parts[depth - 1]}/`);
      folders.add(folder);
    }
    lines.push(`${'  '.repeat(parts.length - 1)}${parts.at(-1)}`);
    if (lines.length >= CONTEXT_LIMITS.maxLayoutEntries) break;
  }
  const layout = lines.join('\n').slice(0, CONTEXT_LIMITS.maxLayoutChars);
  return layout.length < lines.join('\n').length || lines.length >= CONTEXT_LIMITS.maxLayoutEntries
    ? `${layout}\n... (cut: use the tools to see the rest)`
    : layout;
}

async function readGitStatus(root: string, signal: AbortSignal): Promise<string | undefined> {
  const safe = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
  try {
    const { stdout } = await promisify(execFile)(
      'git',
      [...safe, 'status', '--short', '--branch'],
      {
        cwd: root,
        env: {
          PATH: process.env['PATH'],
          GIT_OPTIONAL_LOCKS: '0',
          GIT_CONFIG_NOSYSTEM: '1',
          HOME: '/nonexistent',
        },
        timeout: CONTEXT_LIMITS.gitTimeoutMs,
        signal,
      },
    );
    return stdout.slice(0, CONTEXT_LIMITS.maxGitStatusChars);
  } catch {
    signal.throwIfAborted();
    return undefined; // No git, or no repository.
  }
}
