/**
 * `npm run bench:start`: measures how long `drawbridge` takes in a folder until its prompt, without a running server
 * (cold) and with one (warm). Linux only.
 */
import { spawn } from 'node:child_process';
import { DRAWBRIDGE, openOwnServer } from './own-server.ts';
import { percentile } from './statistics.ts';

const ROUNDS = 7;
const TARGETS = { cold: 1500, warm: 500 } as const;
/** The line above the composer. */
const PROMPT = '────';

using server = openOwnServer();
const folder = server.newFolder('folder');
await toPrompt(); // Builds the bundle of a clone.
report('cold', await measure(() => server.run('stop', folder)));
report('warm', await measure(() => {}));
server.run('stop', folder);

async function measure(before: () => void): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    before();
    times.push(await toPrompt());
  }
  return times;
}

/** Milliseconds from the start of the command to its prompt, in a terminal of its own. */
async function toPrompt(): Promise<number> {
  const line = [...DRAWBRIDGE, 'here', '--port', '0'].map((word) => `'${word}'`).join(' ');
  const startedMs = performance.now();
  const terminal = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: folder,
    env: server.environment,
  });
  let shown = '';
  for await (const piece of terminal.stdout) {
    shown += String(piece);
    if (shown.includes(PROMPT)) break;
  }
  const tookMs = performance.now() - startedMs;
  if (!shown.includes(PROMPT)) throw new Error(`There was no prompt: ${shown}`);
  terminal.kill('SIGKILL');
  return tookMs;
}

function report(what: keyof typeof TARGETS, times: readonly number[]): void {
  const [took, target] = [percentile(times, 0.5), TARGETS[what]];
  const cells = [what, `${took.toFixed(0)} ms`, `at most ${target} ms`];
  const verdict = took <= target ? 'ok' : 'short';
  process.stdout.write(`${cells.map((cell) => cell.padEnd(18)).join('')}${verdict}\n`);
}
