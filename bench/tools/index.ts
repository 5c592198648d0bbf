/** How long the index of a workspace takes to be made, and to answer. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CodeIndex } from '../../packages/code-index/index.ts';
import { searchCodebase } from '../../packages/code-index/search/codebase-search.ts';
import type { SearchIndex } from '../../packages/code-index/search/search-index.ts';
import { Workspace } from '../../packages/workspace/index.ts';
import { openTemporaryFolder } from '../folder.ts';
import { type Part, type ToolFigure, timeOf, timesOf } from './part.ts';
import { questionOf, writeSources } from './sources.ts';

const QUESTIONS = 60;
const WARM_UPS = 5;

export const measureIndex: Part = async ({ small, middle, large }, signal) => {
  using folder = openTemporaryFolder();
  const root = join(folder.path, 'workspace');
  writeSources(root, small);
  const workspace = await Workspace.open(root);
  const made = async (name: string) => {
    const index = new CodeIndex({ workspace, path: join(folder.path, name), signal });
    const startedMs = performance.now();
    index.start();
    while (index.report.state === 'building') await sleep(10, undefined, { signal });
    if (index.report.state === 'off') throw new Error(index.report.reason);
    return { index, tookMs: performance.now() - startedMs };
  };
  const first = await made('small.sqlite');
  await first.index.end();
  writeSources(root, middle, small);
  const second = await made('large.sqlite');
  await second.index.end();
  writeSources(root, large, middle);
  const { index } = await made('large.sqlite');
  try {
    return [
      timeOf(`the first index of ${small} files`, first.tookMs, 7_000),
      timeOf(`the first index of ${middle} files`, second.tookMs),
      await ofQueries(workspace, index, large, signal),
    ];
  } finally {
    await index.end();
  }
};

async function ofQueries(
  workspace: Workspace,
  index: SearchIndex,
  files: number,
  signal: AbortSignal,
): Promise<ToolFigure> {
  const place = await workspace.resolve('.', 'read');
  const asked: SearchIndex = {
    find: async (question) => {
      const found = await index.find(question);
      if (!found) throw new Error('The index did not answer.');
      return found;
    },
  };
  const times: number[] = [];
  for (let number = 0; number < WARM_UPS + QUESTIONS; number++) {
    const question = questionOf(number * 37);
    const startedMs = performance.now();
    await searchCodebase({ isPrivate: false, question, place, workspace, index: asked, signal });
    times.push(performance.now() - startedMs);
  }
  return timesOf(`a question to the index of ${files} files`, times.slice(WARM_UPS), 50);
}
