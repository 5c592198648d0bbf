/**
 * `npm run bench:start`: measures how long `drawbridge` takes in a folder until its prompt, without a running server
 * (cold) and with one (warm), and what a server with two folders takes of the memory. Linux only.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from './family.ts';
import { openTemporaryFolder } from './folder.ts';
import { percentile } from './statistics.ts';

const ROUNDS = 7;
const TARGETS = { cold: 1500, warm: 500, memory: 200 } as const;
/** After this the server has done what a start leaves to do. */
const SETTLED_MS = 5000;
/** The line above the composer. */
const PROMPT = '────';

const DRAWBRIDGE = [process.execPath, join(import.meta.dirname, '..', 'bin', 'drawbridge.mjs')];
using home = openTemporaryFolder();
const [first, second] = ['first', 'second'].map((name) => join(home.path, name)) as [
  string,
  string,
];
for (const folder of [first, second]) mkdirSync(folder);
const env = {
  ...process.env,
  ...{ XDG_STATE_HOME: home.path, XDG_CONFIG_HOME: home.path, TERM: 'xterm' },
  // A model is chosen, so that the first start has no question.
  OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
};

await toPrompt(first); // Builds the bundle of a clone.
report('cold', 'ms', await measure(() => run('stop')), TARGETS.cold);
report('warm', 'ms', await measure(() => {}), TARGETS.warm);
run('start', second);
await sleep(SETTLED_MS);
const parts = memoryOf(pidOfServer());
for (const { command, mb } of parts)
  process.stdout.write(row(`  ${command}`, `${mb.toFixed(0)} MB`));
report('memory', 'MB', [parts.reduce((sum, { mb }) => sum + mb, 0)], TARGETS.memory);
run('stop');

async function measure(before: () => void): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    before();
    times.push(await toPrompt(first));
  }
  return times;
}

/** Milliseconds from the start of the command to its prompt, in a terminal of its own. */
async function toPrompt(cwd: string): Promise<number> {
  const line = [...DRAWBRIDGE, 'here', '--port', '0'].map((word) => `'${word}'`).join(' ');
  const startedMs = performance.now();
  const terminal = spawn('script', ['-qec', line, '/dev/null'], { cwd, env });
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

function run(command: string, cwd = first): void {
  const [program = '', ...args] = [...DRAWBRIDGE, command];
  const port = command === 'start' ? ['--port', '0'] : [];
  const { status, stderr } = spawnSync(program, [...args, ...port], { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

function pidOfServer(): number {
  const path = join(home.path, 'drawbridge', 'server', 'instance.json');
  return JSON.parse(readFileSync(path, 'utf8')).pid;
}

function report(what: keyof typeof TARGETS, unit: string, figures: number[], target: number): void {
  const median = percentile(figures, 0.5);
  const verdict = median <= target ? 'ok' : 'short';
  process.stdout.write(
    row(what, `${median.toFixed(0)} ${unit}`, `at most ${target} ${unit}`, verdict),
  );
}

function row(...cells: readonly string[]): string {
  return `${cells.map((cell) => cell.padEnd(18)).join('')}\n`;
}
