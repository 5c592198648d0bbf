/** Runs grep: searches the workspace's files for a regular expression. */

import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { grep } from '../../shared/tools/grep.ts';
import { ToolFailure, toFileFailure } from '../failure.ts';
import { listFiles } from '../search/file-list.ts';
import type { Ripgrep } from '../search/ripgrep.ts';
import { Sightings } from '../search/sightings.ts';
import type { Place } from '../workspace/workspace.ts';
import type { ArgumentsOf, ToolContext, ToolExecutor } from './executor.ts';
import { type GrepView, showCounts, showFiles, showMatches } from './grep-output.ts';

type GrepArguments = ArgumentsOf<typeof grep>;

/** ripgrep searches secret files too, but none of their text leaves this process. */
export const executeGrep: ToolExecutor<GrepArguments> = async (args, context) => {
  const target = await targetOf(context.places[0]);
  const nameOf = (name: string) => nameInLine(context.workspace.nameOf(join(target.folder, name)));
  const mayShow = await filterFor(args, target, context);
  const limit = Math.min(args.head_limit ?? TOOL_LIMITS.maxMatches, TOOL_LIMITS.maxEntries);
  const search = { ...toRipgrep(args, target, limit), signal: context.signal };
  const sightings = new Sightings(context.workspace, context.signal);
  const confirm: GrepView['confirm'] = (name, found) =>
    sightings.confirm({ ...found, path: join(target.folder, name) });
  const read: GrepView['read'] = (name, offset, length) =>
    sightings.read(join(target.folder, name), offset, length);
  const view = { search, limit, nameOf, mayShow, confirm, read };
  switch (args.output_mode) {
    case 'content':
      return { status: 'success', data: await showMatches(view) };
    case 'files_with_matches':
      return { status: 'success', data: await showFiles(view) };
    case 'count':
      return { status: 'success', data: await showCounts(view) };
  }
};

/** The folder in which ripgrep runs, and the part of it to search. */
interface GrepTarget {
  readonly folder: string;
  readonly target: string;
}

async function targetOf({ path, name }: Place): Promise<GrepTarget> {
  const stats = await lstat(path).catch((error: unknown) => {
    throw toFileFailure(error, name);
  });
  if (stats.isDirectory()) return { folder: path, target: './' };
  if (stats.isFile()) return { folder: dirname(path), target: `./${basename(path)}` };
  throw new ToolFailure(
    'NOT_A_FILE',
    `${nameInLine(name)} is a pipe, socket or device: search a file or a folder.`,
  );
}

/** The check whether a name of ripgrep's, relative to the folder, may be shown. */
async function filterFor(
  { glob }: GrepArguments,
  { folder, target }: GrepTarget,
  { workspace, signal }: ToolContext,
): Promise<(name: string) => boolean> {
  const isOpen = (name: string) => workspace.mayShow(join(folder, name));
  if (glob === undefined || target !== './') return isOpen;
  const visible = new Set(await listFiles({ folder, hidden: true, signal }));
  return (name) => visible.has(name) && isOpen(name);
}

function toRipgrep(
  args: GrepArguments,
  { folder, target }: GrepTarget,
  limit: number,
): Omit<Ripgrep, 'signal'> {
  const { output_mode: mode, '-A': after, '-B': before, '-C': around } = args;
  const context = [
    ...(after === undefined ? [] : [`--after-context=${after}`]),
    ...(before === undefined ? [] : [`--before-context=${before}`]),
    ...(around === undefined ? [] : [`--context=${around}`]),
  ];
  const output = {
    content: [`--max-count=${limit + 1}`, ...context],
    files_with_matches: ['--max-count=1'],
    count: [],
  };
  const flags = [
    ...output[mode],
    '--json',
    '--hidden',
    '--sort=path',
    ...(args['-i'] ? ['--ignore-case'] : []),
    ...(args.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(args.type === undefined ? [] : [`--type=${args.type}`]),
    ...(args.glob === undefined ? [] : [`--glob=${args.glob}`]),
  ];
  return { folder, flags: [...flags, `--regexp=${args.pattern}`], target, separator: '\n' };
}
