/** Informs the model about the machine and the editor: everything once, then only changes. Pure. */

import type { RequestContext } from '../../shared/api/requests.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { Findings } from '../../shared/wire/findings.ts';
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import { changeOf, linesIn, pathsIn } from './changes.ts';
import {
  changedFilesOf,
  type EditorLines,
  editorLines,
  fileNamesOf,
  joinLinterErrors,
  joinNames,
  type LinterErrors,
  linterErrorsOf,
  namesEditor,
  openFilesOf,
  selectedText,
} from './editor.ts';
import { tagged } from './escape.ts';
import { PROMPT_LIMITS } from './limits.ts';

/** The sources of the surroundings. Fixed once a run has started. */
export interface Sources {
  readonly createdMs: number;
  /** From the request. */
  readonly context: RequestContext | undefined;
  /** From the bridge; null without one. */
  readonly machine: MachineContext | null;
  /** What the bridge found for this message. */
  readonly findings?: Findings | undefined;
}

/** The surroundings at one message. A missing entry was not sent with it: its earlier value holds. */
export interface Surroundings {
  /** Lines of `user_info`, by subject. */
  readonly info: ReadonlyMap<string, string>;
  readonly sections: ReadonlyMap<Section, string>;
  /** Lines of `open_and_recently_viewed_files`, by kind. */
  readonly fileNames: EditorLines;
  readonly linterErrors: LinterErrors;
  /** Contents of open files, by path. */
  readonly openFiles: ReadonlyMap<string, string>;
  /** Files that are no longer as the model saw them, with the differences, by path. */
  readonly changedFiles: ReadonlyMap<string, string> | undefined;
}

type Section = 'project_layout' | 'git_status' | 'editor' | 'selected_text';

/** `room` is the model's room for a prompt, in UTF-16 units. */
export function surroundingsOf(
  { createdMs, context, machine, findings }: Sources,
  room: number,
): Surroundings {
  const within = (maxChars: number) =>
    Math.min(maxChars, Math.floor(room * PROMPT_LIMITS.maxShare));
  const cut = (text: string | undefined, maxChars: number, rest?: string) =>
    text === undefined ? undefined : cutLines(text, within(maxChars), rest);
  // A client describes the editor that its user sits at, and the machine may have another one.
  const editor = namesEditor(context) ? undefined : machine?.editor;
  const sections: [Section, string | undefined][] = [
    [
      'project_layout',
      cut(layoutOf(context, machine, findings), PROMPT_LIMITS.maxLayoutChars, 'use list_dir'),
    ],
    [
      'git_status',
      cut(statusOf(context, machine, findings), PROMPT_LIMITS.maxGitStatusChars, 'run git status'),
    ],
    ['editor', cut(editor && editorLines(editor), PROMPT_LIMITS.maxFileNamesChars)],
    [
      'selected_text',
      cut(selectedText(context, editor), PROMPT_LIMITS.maxSelectedChars, 'use read_file'),
    ],
  ];
  return {
    info: new Map(infoOf(createdMs, context, machine, findings)),
    sections: new Map(sections.flatMap(([tag, text]) => (text === undefined ? [] : [[tag, text]]))),
    fileNames: fileNamesOf(context, within(PROMPT_LIMITS.maxFileNamesChars)),
    linterErrors: linterErrorsOf(context, findings?.diagnostics, {
      root: machine ? withoutEnd(machine.workspacePath) : undefined,
      maxChars: within(PROMPT_LIMITS.maxLinterChars),
    }),
    openFiles: openFilesOf(context, findings, within(PROMPT_LIMITS.maxOpenFilesChars)),
    changedFiles: changedFilesOf(findings, within(PROMPT_LIMITS.maxChangedChars)),
  };
}

/** The earlier surroundings, updated by the new ones. */
export function overlaid(before: Surroundings | null, now: Surroundings): Surroundings {
  if (!before) return now;
  return {
    info: new Map([...before.info, ...now.info]),
    sections: new Map([...before.sections, ...now.sections]),
    fileNames: new Map([...before.fileNames, ...now.fileNames]),
    linterErrors: {
      bySource: new Map([...before.linterErrors.bySource, ...now.linterErrors.bySource]),
      maxChars: now.linterErrors.maxChars,
    },
    openFiles: new Map([...before.openFiles, ...now.openFiles]),
    changedFiles: now.changedFiles ?? before.changedFiles,
  };
}

/** The parts of a message that show the difference from `known`, or everything if `known` is null. */
export function renderSurroundings(now: Surroundings, known: Surroundings | null): string[] {
  const info = [...now.info].filter(([about, line]) => known?.info.get(about) !== line);
  const files = newIn(now.openFiles, known?.openFiles);
  const changed = newIn(now.changedFiles, known?.changedFiles);
  const after = overlaid(known, now);
  return [
    ...(info.length > 0 ? [tagged('user_info', info.map(([, line]) => line).join('\n'))] : []),
    ...renderSection(
      'open_and_recently_viewed_files',
      joinNames(after.fileNames),
      known ? joinNames(known.fileNames) : '',
    ),
    ...renderSection(
      'linter_errors',
      joinLinterErrors(after.linterErrors),
      known ? joinLinterErrors(known.linterErrors) : '',
    ),
    ...[...now.sections].flatMap(([tag, text]) =>
      renderSection(tag, text, known?.sections.get(tag)),
    ),
    ...files.map(([path, text]) => tagged('open_file', `${nameInLine(path)}\n${text}`)),
    ...changed.map(([path, text]) => tagged('changed_file', `${nameInLine(path)}\n${text}`)),
  ];
}

type TextsByPath = ReadonlyMap<string, string>;

function newIn(
  now: TextsByPath = new Map(),
  known: TextsByPath = new Map(),
): [path: string, text: string][] {
  return [...now].filter(([path, text]) => known.get(path) !== text);
}

function renderSection(tag: string, text: string, known = ''): string[] {
  if (text === known) return [];
  if (text === '') return [tagged(tag, '(none any more)')];
  if (known === '' || tag === 'selected_text') return [tagged(tag, text)];
  const read = tag === 'project_layout' ? pathsIn : linesIn;
  // Git sorts its lines. A client decides on the order of the others.
  const change = changeOf(read(known), read(text), { isSorted: tag === 'git_status' });
  switch (change.state) {
    case 'none':
      return [];
    case 'lines':
      return [tagged(`${tag}_changes`, change.text)];
    case 'whole':
      return [tagged(tag, text)];
    default:
      return change satisfies never;
  }
}

/** Names the bridge's workspace, where the tools work, even if the request names another folder. */
function infoOf(
  createdMs: number,
  context: RequestContext | undefined,
  machine: MachineContext | null,
  findings: Sources['findings'],
): [about: string, line: string][] {
  const asked = context?.workspacePath;
  const isOther = placeOf(asked, machine, findings) === 'other';
  const date = `Date: ${new Date(createdMs).toISOString().slice(0, 10)}`;
  const lines: Record<string, string | undefined> = machine
    ? {
        date,
        os: `Operating system: ${machine.os}`,
        shell: `Shell: ${machine.shell}`,
        workspace: `Workspace: ${nameInLine(machine.workspacePath)}`,
        other: asked !== undefined && isOther ? otherFolder(asked) : undefined,
      }
    : { date, workspace: asked === undefined ? undefined : `Workspace: ${nameInLine(asked)}` };
  return Object.entries(lines).flatMap(([about, line]) => (line ? [[about, line]] : []));
}

function otherFolder(path: string): string {
  return `The user's client names another folder, where no tool works: ${nameInLine(path)}`;
}

/** The request's tree, unless it belongs to another folder or a part of this one; else the bridge's tree. */
function layoutOf(
  context: RequestContext | undefined,
  machine: MachineContext | null,
  findings: Sources['findings'],
): string | undefined {
  const isSame = placeOf(context?.workspacePath, machine, findings) === 'same';
  const asked = isSame ? context?.projectLayout : undefined;
  // An empty tree means that the bridge could not list the folder in time.
  return asked ?? (machine?.projectLayout || undefined);
}

/** The bridge's status, where the tools work; else the request's, unless it belongs to another folder. */
function statusOf(
  context: RequestContext | undefined,
  machine: MachineContext | null,
  findings: Sources['findings'],
): string | undefined {
  const isOther = placeOf(context?.workspacePath, machine, findings) === 'other';
  return machine?.gitStatus ?? (isOther ? undefined : context?.gitStatus);
}

/** Where the client's folder is, seen from the bridge's. Without the bridge's word for it, the paths decide. */
function placeOf(
  asked: string | undefined,
  machine: MachineContext | null,
  findings: Sources['findings'],
): 'same' | 'inside' | 'other' {
  if (asked === undefined || machine === null) return 'same';
  if (findings?.client) return findings.client;
  const [path, root] = [asked, machine.workspacePath].map(partsOf);
  const isWithin = root?.every((part, index) => part === path?.[index]);
  if (!isWithin) return 'other';
  return path?.length === root?.length ? 'same' : 'inside';
}

function partsOf(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split(/[\\/]+/)) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts;
}

function withoutEnd(path: string): string {
  return path.replace(/[\\/]+$/, '');
}
