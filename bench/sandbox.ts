/** `npm run bench:sandbox`: measures the time that the sandbox adds to a command. Linux only. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromText } from '../bridge/sandbox/byte-path.ts';
import { type Confinement, unconfined } from '../bridge/sandbox/launch/confinement.ts';
import { probeConfinement } from '../bridge/sandbox/proof/confine.ts';
import { WorkspaceScan } from '../bridge/sandbox/view/scan.ts';
import { runCommand } from '../bridge/terminal/run-command.ts';
import { giveAway } from './folder.ts';

const COMMANDS = 40;
const BASES = 10;

process.stdout.write(row('protected paths', 'start', 'command', 'plain', 'ratio', 'new base'));
for (const paths of [1, 50, 300]) await measure(paths);
await measureScan(50_000);

async function measure(paths: number): Promise<void> {
  const folder = newFolder();
  const workspace = join(folder, 'workspace');
  for (let index = 0; index < paths; index++) protect(workspace, `p${index}`);
  giveAway(folder);
  const surroundings = {
    workspace,
    home: join(folder, 'home'),
    closedFolders: [],
    maskFolder: '/tmp/masks',
    environment: { PATH: '/usr/bin:/bin' },
  };
  const startedMs = performance.now();
  using confinement = await probeConfinement(surroundings);
  const startMs = performance.now() - startedMs;
  if (confinement.kind === 'none') throw new Error(confinement.detail);
  const plain = unconfined(surroundings, 'to compare');
  const commandMs: number[] = [];
  const plainMs: number[] = [];
  for (let index = 0; index < COMMANDS; index++) {
    commandMs.push(await timeOf(confinement, workspace));
    plainMs.push(await timeOf(plain, workspace));
  }
  const baseMs: number[] = [];
  for (let index = 0; index < BASES; index++) {
    // Replaces an old thing to close with a new one: the number of mounts stays the same.
    rmSync(join(workspace, 'p0'), { recursive: true });
    protect(workspace, 'p0');
    giveAway(folder);
    baseMs.push((await timeOf(confinement, workspace)) - median(commandMs));
  }
  const ratio = `${(median(commandMs) / median(plainMs)).toFixed(1)}x`;
  const times = [startMs, median(commandMs), median(plainMs)].map((ms) => `${ms.toFixed(1)} ms`);
  process.stdout.write(row(String(paths), ...times, ratio, `${median(baseMs).toFixed(0)} ms`));
  rmSync(folder, { recursive: true });
}

async function measureScan(entries: number): Promise<void> {
  const folder = newFolder();
  for (let index = 0; index < entries / 10; index++) {
    const path = join(folder, `a${index % 50}`, `b${index}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 9; file++) writeFileSync(join(path, `file-${file}.ts`), '');
  }
  // Waits, because the scan reads again what has just changed.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const scan = new WorkspaceScan(fromText(folder));
  const times: number[] = [];
  for (let look = 0; look < 8; look++) {
    const startedMs = performance.now();
    await scan.look(60_000);
    times.push(performance.now() - startedMs);
  }
  const [first = 0, ...later] = times;
  process.stdout.write(
    `a look at ${entries} entries: ${first.toFixed(1)} ms, unchanged ${median(later).toFixed(1)} ms\n`,
  );
  rmSync(folder, { recursive: true });
}

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-sandbox-bench-')));
  mkdirSync(join(folder, 'home'));
  return folder;
}

function protect(workspace: string, name: string): void {
  mkdirSync(join(workspace, name, '.vscode'), { recursive: true });
}

async function timeOf(confinement: Confinement, cwd: string): Promise<number> {
  const startedMs = performance.now();
  const options = { timeoutMs: 20_000, onOutput: () => {}, signal: new AbortController().signal };
  const { end } = await confinement.start({ command: 'true', cwd, permissions: [] }, ({ launch }) =>
    runCommand(launch, options),
  );
  if (end.state !== 'exited') throw new Error(`The command ended otherwise: ${end.state}.`);
  return performance.now() - startedMs;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function row(...cells: readonly string[]): string {
  return `${cells.map((cell) => cell.padStart(16)).join('')}\n`;
}
