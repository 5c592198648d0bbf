/** The editor's context for the model: which files are open, and what the person looks at. */
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CONTEXT_LIMITS, EDITOR_LIMITS } from '../../../../shared/limits.ts';
import { cutNote } from '../../../../shared/text/cut-lines.ts';
import type { EditorContext } from '../../../../shared/wire/tunnel.ts';
import type { Workspace } from '../../../workspace/index.ts';
import type { EditorView } from './link.ts';
import { fromOne, type OpenFile } from './wire.ts';

type ContextFile = EditorContext['openFiles'][number];

/** What the model may see of the workspace's files, by their names relative to it. */
export interface EditorShowable {
  readonly workspace: Workspace;
  readonly mayName: (name: string) => boolean;
  /** Whether the model could read the file without a question. */
  readonly mayRead: (name: string) => boolean;
}

/**
 * The newest files first. Leaves out files that do not exist, and shows only the path of files outside the workspace.
 * Undefined where the disk does not answer in time.
 */
export async function editorContext(
  view: EditorView,
  showable: EditorShowable,
): Promise<EditorContext | undefined> {
  const time = new AbortController();
  const up = sleep(CONTEXT_LIMITS.lookTimeoutMs, undefined, { signal: time.signal });
  const openFiles = await Promise.race([readFiles(view, showable), up.catch(() => undefined)]);
  time.abort();
  return openFiles && { name: view.name, openFiles };
}

async function readFiles(
  { openFiles }: EditorView,
  showable: EditorShowable,
): Promise<ContextFile[]> {
  const files: ContextFile[] = [];
  for (const file of withOneActive(openFiles)) {
    if (files.length >= EDITOR_LIMITS.maxOpenFiles) break;
    const shown = await show(file, showable);
    if (shown) files.push(shown);
  }
  return files;
}

/**
 * Sorted by their timestamps, the newest first. Only the newest file can be active, and only an active file keeps its
 * cursor and its selection.
 */
export function withOneActive(openFiles: readonly OpenFile[]): OpenFile[] {
  const [newest, ...others] = [...openFiles].sort((a, b) => b.timestamp - a.timestamp);
  if (newest === undefined) return [];
  return [newest.isActive ? newest : inactive(newest), ...others.map(inactive)];
}

function inactive({ path, timestamp }: OpenFile): OpenFile {
  return { path, timestamp, isActive: undefined, cursor: undefined, selectedText: undefined };
}

async function show(
  { path, isActive, cursor, selectedText }: OpenFile,
  { workspace, mayName, mayRead }: EditorShowable,
): Promise<ContextFile | undefined> {
  const real = isAbsolute(path) ? await realpath(path).catch(() => undefined) : undefined;
  if (real === undefined || real.length > EDITOR_LIMITS.maxPathChars) return undefined;
  const name = workspace.nameOf(real);
  if (name === '..' || name.startsWith('../') || isAbsolute(name)) return { path: real };
  if (!workspace.mayName(real) || !mayName(name)) return undefined;
  if (!isActive) return { path: name };
  const isShown = workspace.mayShow(real) && mayRead(name);
  return {
    path: name,
    isActive,
    ...(cursor && { cursor: placeOf(cursor) }),
    ...(isShown && selectedText && { selectedText: cut(selectedText) }),
  };
}

function placeOf({ line, character }: NonNullable<OpenFile['cursor']>) {
  return { line: fromOne(line), character: fromOne(character) };
}

function cut(text: string): string {
  const { maxSelectedChars } = EDITOR_LIMITS;
  if (text.length <= maxSelectedChars) return text;
  const shown = text.slice(0, maxSelectedChars - MAX_CUT_CHARS).toWellFormed();
  return `${shown}\n${cutNote(text.length - shown.length, 'use read_file', 'character')}`;
}

/** More than the note of a cut takes. */
const MAX_CUT_CHARS = 80;
