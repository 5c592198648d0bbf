#!/usr/bin/env node
// Starts `drawbridge` on any Node that the machine has, so it is plain JavaScript. bin/own-copy.mjs finds the program. A
// clone runs on the Node 24 in its dependencies: an older Node hands over to it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

/** The oldest Node that runs the package (package.json, `engines`), and the one that runs a clone. */
const OLDEST = [20, 19];
const CLONE_MAJOR = 24;
/** Marks a second process whose IPC channel only serves to end it together with the first. */
const HANDED_OVER = 'DRAWBRIDGE_HANDED_OVER';
const PARENT_POLL_MS = 250;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major, minor] = process.versions.node.split('.').map(Number);

if (process.env.npm_lifecycle_event === 'start' && !process.env[HANDED_OVER]) endWithShell();
if (existsSync(join(root, 'cli', 'main.ts'))) await startClone();
else await startPackage();

async function startPackage() {
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
    process.stderr.write(
      `drawbridge: Node ${OLDEST.join('.')} or newer is needed, and this is ${process.version}.\n`,
    );
    process.exit(2);
  }
  await runProgram();
}

async function startClone() {
  if (!existsSync(join(root, 'node_modules', '.package-lock.json'))) {
    await import('../local/ensure-installed.mjs');
  }
  if (major < CLONE_MAJOR) return handOver();
  if (process.env[HANDED_OVER]) endWithFirstProcess();
  await runProgram();
}

async function runProgram() {
  const { programUrl } = await import('./own-copy.mjs');
  const { main } = await import(await programUrl(root));
  await main(process.argv.slice(2));
}

/** Runs the same command on Node 24. Signals, streams and the exit code pass through. */
function handOver() {
  const node = join(root, 'node_modules', 'node', 'bin', 'node');
  const child = spawn(node, process.argv.slice(1), {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [HANDED_OVER]: '1' },
  });
  // One of them is enough: if one stream is piped, the others may still be at the terminal.
  const isAtTerminal = [0, 1, 2].some(isatty);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes. A second one would mean something else to the child.
      if (signal !== 'SIGINT' || !isAtTerminal) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    process.stderr.write(
      `drawbridge: Node 24 could not be started (${error.message}). Run npm install.\n`,
    );
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** npm passes a signal only to the shell between npm and this process: when that shell has gone, this process ends. */
function endWithShell() {
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_POLL_MS).unref();
}

/** If the first process is killed, this process ends as after SIGTERM. */
function endWithFirstProcess() {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel.unref();
  // Hides the channel from the program, which has its own use for one.
  process.send = undefined;
  delete process.env[HANDED_OVER];
}
