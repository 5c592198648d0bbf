/** Finds the files that a run has to do with, by its request and its calls. Pure. */

import { namesEditor } from '../../../../packages/prompt/index.ts';
import { takesPath } from '../../../../shared/tools/definition.ts';
import { readFile } from '../../../../shared/tools/read-file.ts';
import type { Call } from '../../store/rows.ts';
import type { Piece, SentRun } from './transcript.ts';

/** The files that the request, or else the editor on the machine, shows. Relative to the workspace. */
export function filesOfRequest(run: SentRun): string[] {
  const { context } = run.request;
  const { openFiles = [], recentFiles = [], cursor, selection } = context ?? {};
  const open = openFiles.map((file) => (typeof file === 'string' ? file : file.path));
  const editor = namesEditor(context) ? undefined : run.machine?.context.editor;
  const shown = editor?.openFiles.map(({ path }) => path) ?? [];
  const places = [cursor, selection].flatMap((place) => place?.path ?? []);
  const folder = run.machine?.findings?.clientFolder;
  // A client names its files relative to its own folder.
  const named = [...places, ...open, ...recentFiles].map((path) =>
    folder === undefined || path.startsWith('/') ? path : `${folder}/${path}`,
  );
  return inWorkspace([...named, ...shown], run);
}

/** The files that these calls read or change. A call that names a folder touches no file. */
export function filesOfCalls(
  calls: readonly Call[],
  { run, toolbox }: Pick<Piece, 'run' | 'toolbox'>,
): string[] {
  const paths = calls.flatMap(({ name, arguments: args }) => {
    const tool = toolbox.own(name);
    if (!tool || !args || !takesPath(tool)) return [];
    const isOfFile = tool.name === readFile.name || tool.document.type === 'file_edit';
    // A damaged row may lack a path.
    return isOfFile ? tool.subjects(args).filter((path) => typeof path === 'string') : [];
  });
  return inWorkspace(paths, run);
}

/** The paths as names relative to the run's workspace, without those outside of it. */
export function inWorkspace(
  paths: readonly string[],
  { machine, request: { context } }: SentRun,
): string[] {
  // The client may spell its folder otherwise; the bridge has compared it with the workspace.
  const { client, clientFolder = client === 'same' ? '.' : undefined } = machine?.findings ?? {};
  const places = [
    { root: machine?.context.workspacePath, at: '.' },
    { root: clientFolder && context?.workspacePath, at: clientFolder },
  ].flatMap(({ root, at }) => (root ? { start: `${root.replace(/\/+$/, '')}/`, at } : []));
  return paths.flatMap((path) => {
    if (!path.startsWith('/')) return resolved(path) ?? [];
    const place = places.find(({ start }) => path.startsWith(start));
    return (place && resolved(`${place.at}/${path.slice(place.start.length)}`)) ?? [];
  });
}

/** Without `.` and `..`; null where that leads out, or to the workspace itself. */
function resolved(name: string): string | null {
  const names: string[] = [];
  for (const one of name.split('/')) {
    if (one === '' || one === '.') continue;
    if (one !== '..') names.push(one);
    else if (names.pop() === undefined) return null;
  }
  return names.length === 0 ? null : names.join('/');
}
