/** Says with a search's answer which files of ignore rules it left out: the model would wonder at what it is shown. */
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nameInLine } from '../../shared/plain-sight.ts';
import { subjectsOf, type ToolDefinition } from '../../shared/tools/definition.ts';
import { readRulesAbove } from '../search/ignore-files.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { ArgumentsOf, ToolExecutor } from './executor.ts';

/** The executor of a search with these notes behind what it found. */
export function withRuleNotes<Definition extends ToolDefinition>(
  definition: Definition,
  execute: ToolExecutor<ArgumentsOf<Definition>>,
): ToolExecutor<ArgumentsOf<Definition>> {
  return async (args, context) => {
    const result = await execute(args, context);
    if (result.status !== 'success') return result;
    const paths = subjectsOf(definition, args);
    const found = await Promise.all(paths.map((path) => notesOn(path, context.workspace)));
    const notes = new Set(found.flat());
    return { ...result, data: [result.data, ...notes].join('\n') };
  };
}

async function notesOn(path: string, workspace: Workspace): Promise<string[]> {
  const place = await workspace.resolve(path, 'read').catch(() => null);
  const stats = place && (await lstat(place.path).catch(() => null));
  if (!place || !stats) return []; // It has gone since it was searched.
  const { odd } = await readRulesAbove(stats.isDirectory() ? place.path : dirname(place.path));
  return odd.map(
    ({ path: at, kind }) =>
      `(${nameInLine(workspace.nameOf(at))} is ${kind}, so its ignore rules were left out: ask the person, or remove it with a command.)`,
  );
}
