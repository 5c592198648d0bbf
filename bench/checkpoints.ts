/** `npm run bench:checkpoints`: measures what it costs to keep what an edit and a command change. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Checkpoints } from '../bridge/checkpoints/checkpoints.ts';
import { replaceImage } from '../bridge/workspace/changes.ts';
import { readImageIfAny } from '../bridge/workspace/files.ts';
import { Workspace } from '../bridge/workspace/workspace.ts';
import { median, percentile } from './statistics.ts';

const EDITS = 300;
const COMMANDS = 40;
const FILES = 3_000;
const FILE_CHARS = 10_000;
const SETTLE_MS = 3_000;

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drawbridge-checkpoints-bench-')));
const root = join(folder, 'workspace');
mkdirSync(join(folder, 'state'));
for (let index = 0; index < FILES; index++) {
  const path = join(root, `a${index % 20}`, `b${index % 300}`);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, `file-${index}.ts`), `${index}\n`.repeat(FILE_CHARS / 5));
}
const workspace = await Workspace.open(root);
const checkpoints = Checkpoints.open(join(folder, 'state'));
if (!checkpoints) throw new Error('no checkpoints');
const changer = { root, conversationId: 'conv', callId: 'call' };

const { signal } = new AbortController();
const editMs: Record<'kept' | 'plain', number[]> = { kept: [], plain: [] };
for (let index = 0; index < EDITS; index++) {
  for (const side of ['kept', 'plain'] as const) {
    const place = await workspace.resolve(`edited-${side}.ts`, 'write');
    const expected = (await readImageIfAny(place, signal))?.hash ?? null;
    const keep = side === 'kept' ? checkpoints.keeper(changer) : undefined;
    const text = `${index}\n`.repeat(FILE_CHARS / 5);
    const startedMs = performance.now();
    await replaceImage(place, Buffer.from(text), { expected, keep, signal });
    editMs[side].push(performance.now() - startedMs);
  }
}
report('an edit, kept', editMs.kept);
report('an edit, not kept', editMs.plain);

const coldMs = performance.now();
checkpoints.watch(workspace);
await checkpoints.command(changer, async () => {});
process.stdout.write(
  `first look at ${FILES} files: ${(performance.now() - coldMs).toFixed(1)} ms\n`,
);
await sleep(SETTLE_MS);
const commandMs: number[] = [];
const cpuMs: number[] = [];
let lost = 0;
for (let index = 0; index < COMMANDS; index++) {
  const startedMs = performance.now();
  const cpu = process.cpuUsage();
  let workMs = 0;
  const kept = await checkpoints.command(changer, async () => {
    const begunMs = performance.now();
    const path = join(root, `a${index % 20}`, `b${index % 20}`, `file-${index % 20}.ts`);
    writeFileSync(path, `changed ${index}`);
    workMs = performance.now() - begunMs;
  });
  lost += kept.lost.length;
  commandMs.push(performance.now() - startedMs - workMs);
  const { user, system } = process.cpuUsage(cpu);
  cpuMs.push((user + system) / 1_000);
}
report(`a command over ${FILES} files`, commandMs);
report('its processor time', cpuMs);
process.stdout.write(`changes that cannot be undone: ${lost}\n`);
checkpoints.end();
rmSync(folder, { recursive: true });

function report(what: string, samples: readonly number[]): void {
  const [half, most] = [median(samples), percentile(samples, 0.95)];
  process.stdout.write(`${what}: ${half.toFixed(2)} ms, p95 ${most.toFixed(2)} ms\n`);
}
