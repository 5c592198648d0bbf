/** Runs grep: searches the workspace's files for a regular expression. */

import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolFailure, toFileFailure } from '../../machine/failure.ts';
import {
  LINE_END_FLAG,
  listFiles,
  overLineEnds,
  type Ripgrep,
  Sightings,
  searchUnderRules,
  withLiteralNames,
} from '../../packages/code-index/index.ts';
import type { ArgumentsOf, ToolExecutor } from '../../packages/host/index.ts';
import type { ResolvedPath } from '../../packages/workspace/index.ts';
import { TOOL_LIMITS } from '../../shared/limits.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { grep } from '../../shared/tools/grep.ts';
import { type GrepView, showCounts, showFiles, showMatches } from './grep-output.ts';

type GrepArguments = ArgumentsOf<typeof grep>;

/** ripgrep searches secret files too, but none of their text leaves this process. */
export const executeGrep: ToolExecutor<GrepArguments> = async (args, context) => {
  const target = await targetOf(context.places[0]);
  const nameOf = (name: string) => nameInLine(context.workspace.nameOf(join(target.folder, name)));
  const limit = Math.min(args.head_limit ?? TOOL_LIMITS.maxMatches, TOOL_LIMITS.maxEntries);
  const search = { ...target, signal: context.signal };
  const data = await searchUnderRules(search, async (rules, signal) => {
    const listed = args.glob === undefined ? undefined : await visibleIn(target, rules, signal);
    const ruled = { ...toRipgrep(args, target, { limit, listed }), rules, signal };
    const sightings = new Sightings(context.workspace, signal);
    const confirm: GrepView['confirm'] = (name, found) =>
      sightings.confirm({ ...found, path: join(target.folder, name) });
    const read: GrepView['read'] = (name, offset, length) =>
      sightings.read(join(target.folder, name), offset, length);
    const isOpen = (name: string) => context.workspace.mayFind(join(target.folder, name));
    const mayShow = (name: string) => (listed?.has(name) ?? true) && isOpen(name);
    return await SHOW[args.output_mode]({ search: ruled, limit, nameOf, mayShow, confirm, read });
  });
  return { status: 'success', data };
};

const SHOW = { content: showMatches, files_with_matches: showFiles, count: showCounts } as const;

/** The folder in which ripgrep runs, and the part of it to search. */
interface GrepTarget {
  readonly folder: string;
  readonly target: string;
}

async function targetOf({ path, name }: ResolvedPath): Promise<GrepTarget> {
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

/** The files below the folder; undefined for a search in one file. */
async function visibleIn(
  { folder, target }: GrepTarget,
  rules: Ripgrep['rules'],
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  if (target !== './') return undefined;
  return new Set(await listFiles({ folder, hidden: true, rules, signal }));
}

function toRipgrep(
  args: GrepArguments,
  { folder, target }: GrepTarget,
  { limit, listed = [] }: { limit: number; listed?: Iterable<string> | undefined },
): Omit<Ripgrep, 'rules' | 'signal'> {
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
    LINE_END_FLAG,
    '--hidden',
    '--sort=path',
    ...(args['-i'] ? ['--ignore-case'] : []),
    ...(args.multiline ? ['--multiline', '--multiline-dotall'] : []),
    ...(args.type === undefined ? [] : [`--type=${args.type}`]),
    ...(args.glob === undefined ? [] : [`--glob=${withLiteralNames(args.glob, listed)}`]),
  ];
  const pattern = args.multiline ? overLineEnds(args.pattern) : args.pattern;
  return { folder, flags: [...flags, `--regexp=${pattern}`], target, separator: '\n' };
}
