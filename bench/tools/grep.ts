/** The tool `grep` beside ripgrep alone with the same flags, in turns. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { createFileTools } from '../../bridge/tools/catalogue.ts';
import { ReadLedger, type ToolContext } from '../../packages/host/index.ts';
import { Workspace } from '../../packages/workspace/index.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { alternate } from '../alternate.ts';
import { openTemporaryFolder } from '../folder.ts';
import { median, percentile } from '../statistics.ts';
import type { Part, ToolFigure } from './part.ts';
import { writeSources } from './sources.ts';

/** In one of a thousand files: both sides search them all, and none stops early. */
const PATTERN = '\\w+777Book\\b';
const ROUNDS = { warmUps: 3, rounds: 30 } as const;

export const measureGrep: Part = async ({ small, large }, signal) => {
  using folder = openTemporaryFolder();
  const figures: ToolFigure[] = [];
  writeSources(folder.path, small);
  figures.push(await compare(folder.path, small, signal));
  writeSources(folder.path, large, small);
  figures.push(await compare(folder.path, large, signal));
  return figures;
};

async function compare(root: string, files: number, signal: AbortSignal): Promise<ToolFigure> {
  const context = await contextOf(root, signal);
  const tool = createFileTools().find(({ definition }) => definition.name === 'grep');
  const ours = async () => {
    const call = tool?.read({ pattern: PATTERN }, 'conv');
    const result = await (await call?.propose(context))?.apply(context);
    if (!result?.data.includes('777Book')) throw new Error('grep found nothing.');
  };
  const bare = async () => void (await promisify(execFile)(rgPath, FLAGS, { cwd: root }));
  const times = await alternate({ bare, ours }, ROUNDS, async (search) => {
    const startedMs = performance.now();
    await search();
    return performance.now() - startedMs;
  });
  return {
    what: `grep in ${files} files (bare: ripgrep)`,
    unit: 'ms',
    bare: median(times.bare),
    ours: median(times.ours),
    p95: percentile(times.ours, 0.95),
    target: { maxRatio: 1.3 },
  };
}

/** Those of bridge/tools/grep.ts and packages/code-index/search/ripgrep.ts; ripgrep reads the ignore files itself. */
const FLAGS = [
  '--no-config',
  '--no-messages',
  '--color=never',
  `--max-count=${TOOL_LIMITS.maxMatches + 1}`,
  '--json',
  '--hidden',
  '--sort=path',
  `--regexp=${PATTERN}`,
  '--glob=!.git',
  '--',
  './',
];

async function contextOf(root: string, signal: AbortSignal): Promise<ToolContext> {
  const workspace = await Workspace.open(root);
  return {
    workspace,
    signal,
    callId: 'call',
    conversationId: 'conv',
    places: [await workspace.resolve('.', 'read')],
    ledger: new ReadLedger(),
    mayRepeat: false,
    isReviewed: false,
    onOutput: () => {},
    elicit: async () => ({ decision: 'expired' }),
  };
}
