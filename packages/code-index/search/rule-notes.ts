/** Adds notes to a search's answer about ignore files that were skipped, because they change what the model sees. */
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import type { ToolContext, ToolExecutor } from '../../host/index.ts';
import type { ResolvedPath } from '../../workspace/index.ts';
import { readRulesAbove } from './ignore-files.ts';

/** Wraps the executor of a search: appends these notes to its result. */
export function withRuleNotes<Args>(execute: ToolExecutor<Args>): ToolExecutor<Args> {
  return async (args, context) => {
    const result = await execute(args, context);
    if (result.status !== 'success') return result;
    const found = await Promise.all(context.places.map((place) => notesOn(place, context)));
    const notes = new Set(found.flat());
    return { ...result, data: [result.data, ...notes].join('\n') };
  };
}

async function notesOn(place: ResolvedPath, { workspace }: ToolContext): Promise<string[]> {
  const stats = await lstat(place.path).catch(() => null);
  if (!stats) return []; // The place has gone since the search.
  const { odd } = readRulesAbove(stats.isDirectory() ? place.path : dirname(place.path));
  return odd.map(
    ({ path: at, kind }) =>
      `(${nameInLine(workspace.nameOf(at))} is ${kind}, so its ignore rules were left out: ask the person, or remove it with a command.)`,
  );
}
