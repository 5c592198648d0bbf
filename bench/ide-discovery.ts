/** `npm run bench:ide`: measures the search for the editor's companion among files that other windows left behind. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { SearchPlace } from '../bridge/ide/discovery/candidate.ts';
import { discover } from '../bridge/ide/discovery/discover.ts';
import { openTemporaryFolder } from './folder.ts';
import { percentile } from './statistics.ts';

const ROUNDS = 30;
/** The most that a person should wait, with one good file among a hundred stale ones. */
const TARGET_MS = 300;

process.stdout.write(row('files', 'first', 'median', 'p95', ''));
for (const files of [1, 10, 101]) await measure(files);

/** One of the files leads to a companion. The editor of the others still runs, so that only the port shows it. */
async function measure(files: number): Promise<void> {
  using folder = openTemporaryFolder();
  const [companion, left] = [createServer(), createServer()];
  const [good, dead] = [await listen(companion), await listen(left)];
  left.close();
  const place = announceIn(folder.path, { files, good, dead });
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedMs = performance.now();
    const { ranked } = await discover(place, new AbortController().signal);
    times.push(performance.now() - startedMs);
    if (ranked.length !== 1) throw new Error(`${ranked.length} companions were found, not one.`);
  }
  companion.close();
  const [first = 0, ...later] = times;
  const worst = Math.max(first, percentile(later, 0.95));
  const figures = [first, percentile(later, 0.5), percentile(later, 0.95)];
  const verdict = worst <= TARGET_MS ? 'ok' : 'short';
  process.stdout.write(row(`${files}`, ...figures.map((ms) => `${ms.toFixed(1)} ms`), verdict));
}

function announceIn(
  folder: string,
  { files, good, dead }: { files: number; good: number; dead: number },
): SearchPlace {
  const workspace = join(folder, 'workspace');
  const announced = join(folder, 'gemini', 'ide');
  mkdirSync(workspace);
  mkdirSync(announced, { recursive: true });
  for (let index = 0; index < files; index++) {
    const port = index === 0 ? good : dead;
    const content = { port, workspacePath: workspace, authToken: `${index}` };
    const name = `gemini-ide-server-${process.ppid}-${index + 1}.json`;
    writeFileSync(join(announced, name), JSON.stringify(content), { mode: 0o600 });
  }
  return {
    workspace,
    home: folder,
    environment: {},
    temporaryFolders: [folder],
    platform: process.platform,
    pid: process.pid,
    userId: process.getuid?.(),
    isInContainer: false,
  };
}

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

function row(...cells: readonly string[]): string {
  return `${cells.map((cell) => cell.padStart(10)).join('')}\n`;
}
