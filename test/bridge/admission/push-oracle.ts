/** Runs any line in a real Bash, where it can do no harm, and reports whether it ran `git push`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One for each line at a time. */
export async function createPushOracle(
  folder: string,
): Promise<(line: string) => Promise<boolean>> {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await putScript(join(bin, 'git'), NOTE);
  await putScript(join(bin, 'sudo'), SUDO);
  let count = 0;
  return async (line) => {
    // A folder for each line: one before may have left something in the background.
    const log = join(folder, `log-${count++}`);
    await mkdir(log);
    await writeFile(join(log, 'log'), '');
    await run([...sandboxOf(folder, log), '/bin/bash', '-c', line], bin);
    return (await readFile(join(log, 'log'), 'utf8')).includes('git push\0');
  };
}

const NOTE = `#!/bin/dash
printf 'git %s\\0' "$1" >> /tmp/log/log
`;

const SUDO = `#!/bin/dash
[ "$1" = -n ] && shift
exec "$@"
`;

async function putScript(path: string, text: string): Promise<void> {
  await writeFile(path, text);
  await chmod(path, 0o755);
}

function sandboxOf(folder: string, log: string): string[] {
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    ...['--ro-bind', folder, folder, '--bind', log, '/tmp/log', '--dir', '/tmp/cwd'],
    ...['--chdir', '/tmp/cwd', '--unshare-all', '--die-with-parent'],
  ];
}

async function run(args: readonly string[], bin: string): Promise<void> {
  const options = { stdio: 'ignore', timeout: 1_500, killSignal: 'SIGKILL' } as const;
  const child = spawn('bwrap', args, { ...options, env: { PATH: `${bin}:/usr/bin:/bin` } });
  await once(child, 'close');
}
