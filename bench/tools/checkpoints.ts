/** What it costs to keep what an edit and a command change. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Changer, Checkpoints } from '../../bridge/checkpoints/checkpoints.ts';
import { readContentIfAny, replaceFileAt, Workspace } from '../../packages/workspace/index.ts';
import { openTemporaryFolder } from '../folder.ts';
import { type Part, type ToolFigure, timeOf, timesOf } from './part.ts';
import { sourceName, writeSources } from './sources.ts';

const EDITS = 300;
const COMMANDS = 40;
const EDITED_CHARS = 10_000;
/** The contents of files are kept in the background after the first look. */
const SETTLE_MS = 3_000;

export const measureCheckpoints: Part = async ({ small }, signal) => {
  using folder = openTemporaryFolder();
  const root = join(folder.path, 'workspace');
  mkdirSync(join(folder.path, 'state'));
  writeSources(root, small);
  const workspace = await Workspace.open(root);
  const checkpoints = Checkpoints.open(join(folder.path, 'state'));
  if (!checkpoints) throw new Error('This machine keeps no checkpoints.');
  const kept = {
    checkpoints,
    workspace,
    changer: { root, conversationId: 'conv', callId: 'call' },
  };
  try {
    return [await ofEdits(kept, signal), ...(await ofCommands(kept, small, signal))];
  } finally {
    checkpoints.end();
  }
};

interface Kept {
  readonly checkpoints: Checkpoints;
  readonly workspace: Workspace;
  readonly changer: Changer;
}

/** The time that an edit takes longer than one beside it that is not kept. */
async function ofEdits(
  { checkpoints, workspace, changer }: Kept,
  signal: AbortSignal,
): Promise<ToolFigure> {
  const edit = async (name: string, text: string, isKept: boolean) => {
    const place = await workspace.resolve(name, 'write');
    const expected = (await readContentIfAny(place, signal))?.hash ?? null;
    const keep = isKept ? checkpoints.keeper(changer) : undefined;
    const startedMs = performance.now();
    await replaceFileAt(place, Buffer.from(text), { expected, keep, signal });
    return performance.now() - startedMs;
  };
  const addedMs: number[] = [];
  for (let index = 0; index < EDITS; index++) {
    const text = `${index}\n`.repeat(EDITED_CHARS / 5);
    const keptMs = await edit('kept.ts', text, true);
    addedMs.push(keptMs - (await edit('plain.ts', text, false)));
  }
  return timesOf('keeping an edit: added', addedMs, 2);
}

async function ofCommands(
  { checkpoints, workspace, changer }: Kept,
  files: number,
  signal: AbortSignal,
): Promise<ToolFigure[]> {
  const startedMs = performance.now();
  checkpoints.watch(workspace);
  await checkpoints.command(changer, async () => {});
  const firstMs = performance.now() - startedMs;
  await sleep(SETTLE_MS, undefined, { signal });
  const commandMs: number[] = [];
  for (let index = 0; index < COMMANDS; index++) {
    const begunMs = performance.now();
    const { lost } = await checkpoints.command(changer, async () =>
      writeFileSync(join(workspace.root, sourceName(index)), `changed ${index}`),
    );
    commandMs.push(performance.now() - begunMs);
    if (lost.length > 0) throw new Error('The change of a command cannot be undone.');
  }
  return [
    timeOf(`the first look at ${files} files`, firstMs),
    timesOf(`keeping a command over ${files} files`, commandMs, 30),
  ];
}
