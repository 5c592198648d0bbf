/** How long a person waits for the files behind an `@`. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Completion } from '../../bridge/completion/completion.ts';
import { Workspace } from '../../packages/workspace/index.ts';
import { FILE_SEARCH_LIMITS } from '../../shared/limits.ts';
import { openTemporaryFolder } from '../folder.ts';
import { type Part, timeOf, timesOf } from './part.ts';
import { sourceName, writeSources } from './sources.ts';

const FILES = 30;
/** Milliseconds between two keys. The listing is made anew meanwhile, as while a person types. */
const TYPING_MS = 50;

export const measureCompletion: Part = async ({ large }, signal) => {
  using folder = openTemporaryFolder();
  const root = join(folder.path, 'workspace');
  writeSources(root, large);
  const workspace = await Workspace.open(root);
  const completion = new Completion({
    workspace,
    readPolicy: async () => () => true,
    readOpen: async () => [],
    signal,
  });
  const ask = async (query: string) => {
    const startedMs = performance.now();
    const found = await completion.find({ query, limit: FILE_SEARCH_LIMITS.defaultItems });
    if (!found?.length) throw new Error(`Nothing was found by ${query}.`);
    return performance.now() - startedMs;
  };
  const firstMs = await ask('');
  const times: number[] = [];
  for (let number = 0; number < FILES; number++) {
    const name = sourceName(number * 37).replace(/.*\//, '');
    for (let end = 1; end <= name.length; end++) {
      times.push(await ask(name.slice(0, end)));
      await sleep(TYPING_MS, undefined, { signal });
    }
  }
  return [
    timeOf(`the first files behind an @ of ${large}`, firstMs),
    timesOf(`the files for one more letter, of ${large}`, times, 50),
  ];
};
