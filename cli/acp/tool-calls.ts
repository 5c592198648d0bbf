/** Calls, edits and commands of an answer as the tool calls of the Agent Client Protocol. Pure. */
import { posix } from 'node:path';
import type { ToolCall, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import type { Document } from '../../client/index.ts';
import { fenced } from '../../shared/shown/fence.ts';
import { describeProposal } from '../../shared/shown/proposal.ts';
import { inPlainSight, nameInLine, printable } from '../../shared/text/plain-sight.ts';
import type { ToolName } from '../../shared/tools/catalogue.ts';
import type { Proposal } from '../../shared/wire/approvals.ts';
import {
  type Diff,
  FileEditMetadata,
  ToolCallMetadata,
  ToolOutcome,
} from '../../shared/wire/documents.ts';
import { SubagentState } from '../../shared/wire/subagents.ts';
import { resultText } from '../render/result-text.ts';
import { lastStates, summaryOfArguments, summaryOfCall } from '../render/tool.ts';
import { shortLine } from '../terminal/short-line.ts';
import { ACP_LIMITS } from './limits.ts';

/** What of a tool call can change. */
type ShownState = Pick<
  ToolCall,
  'title' | 'kind' | 'status' | 'content' | 'locations' | 'rawInput'
>;

/** One name for a document in all of a session. */
export function toolCallIdOf(responseId: string, documentId: string): string {
  return `${responseId}/${documentId}`;
}

/** Undefined for documents that are no call, and for a call whose subject is not known yet. */
export function shownCall(document: Document, folder: string): ShownState | undefined {
  switch (document.type) {
    case 'file_edit':
      return editOf(document, folder);
    case 'terminal_command':
      return commandOf(document);
    case 'tool_call':
      return callOf(document);
    default:
      return undefined;
  }
}

function editOf(document: Document, folder: string): ShownState | undefined {
  const { filePath, newPath, operation } = document.metadata;
  if (typeof filePath !== 'string') return undefined;
  const path = posix.join(folder, filePath);
  const to = typeof newPath === 'string' ? ` → ${nameInLine(newPath)}` : '';
  const { metadata } = document;
  return {
    title: `${shortLine(String(operation ?? 'edit'))} ${nameInLine(filePath)}${to}`,
    kind: EDIT_KINDS[String(operation)] ?? 'edit',
    status: statusOf(document, metadata['diff'] !== undefined),
    content: [
      ...changesOf(document).map((diff) => diffOf(path, diff, operation)),
      ...failureOf(document),
    ],
    locations: [{ path }],
  };
}

const EDIT_KINDS: Readonly<Record<string, ToolKind>> = { delete: 'delete', rename: 'move' };

/** The changes of an edit that was made; those of a new file are its content. */
function changesOf({ metadata, content }: Document): readonly Diff[] {
  if (metadata['diff'] === undefined) return [];
  const { hunks, diff } = Changes.safeParse(metadata).data ?? {};
  const known = hunks ?? (diff ? [diff] : []);
  if (known.length > 0 || metadata['operation'] !== 'create') return known;
  return [{ oldString: '', newString: content ?? '', startLine: 1, endLine: 1 }];
}

const Changes = FileEditMetadata.pick({ hunks: true, diff: true });

/** An editor shows a file without an old text as a new one. */
function diffOf(path: string, { oldString, newString }: Diff, operation: unknown): ToolCallContent {
  const oldText = operation === 'create' ? null : oldString;
  return { type: 'diff', path, oldText, newText: newString };
}

function commandOf(document: Document): ShownState | undefined {
  const { command, exitCode, duration_ms: durationMs, output, result } = document.metadata;
  if (typeof command !== 'string') return undefined;
  const failed = typeof exitCode === 'number' && exitCode !== 0 && result === undefined;
  const printed = printable(lastStates(String(output ?? '')));
  const end = failed ? `\nexit code ${exitCode}` : '';
  return {
    title: inPlainSight(command),
    kind: 'execute',
    status: failed ? 'failed' : statusOf(document, (exitCode ?? durationMs) !== undefined),
    content: [...textContent(`${printed}${end}`), ...failureOf(document)],
    rawInput: { command },
  };
}

function callOf(document: Document): ShownState | undefined {
  const { toolName, arguments: given, result, isOfApp } = document.metadata;
  if (typeof toolName !== 'string' || given === undefined) return undefined;
  const outcome = ToolOutcome.safeParse(result).data;
  const isDone = outcome?.status === 'success';
  return {
    title: `${shortLine(toolName)} ${summaryOfCall(document.metadata, Object(given))}`.trimEnd(),
    kind: !isOfApp && Object.hasOwn(KINDS, toolName) ? KINDS[toolName as ToolName] : 'other',
    status: statusOf(document, isDone),
    content: [
      ...subagentOf(document),
      ...(isDone ? textContent(printable(resultText(outcome))) : failureOf(document)),
      ...imagesOf(document),
    ],
    rawInput: given,
  };
}

/** A new tool needs its row here: the type checker asks for it. */
const KINDS: Readonly<Record<ToolName, ToolKind>> = {
  read_file: 'read',
  list_dir: 'read',
  read_lints: 'read',
  read_process: 'read',
  activate_skill: 'read',
  glob_file_search: 'search',
  grep: 'search',
  codebase_search: 'search',
  web_search: 'search',
  web_fetch: 'fetch',
  str_replace: 'edit',
  edit_file: 'edit',
  edit_notebook: 'edit',
  write: 'edit',
  delete_file: 'delete',
  rename_file: 'move',
  run_terminal_cmd: 'execute',
  control_process: 'execute',
  todo_write: 'think',
  create_plan: 'think',
  ask_question: 'think',
  switch_mode: 'switch_mode',
  task: 'other',
};

/** What the subagent that the call started is at. */
function subagentOf({ metadata }: Document): ToolCallContent[] {
  const state = SubagentState.safeParse(metadata['subagent']).data;
  if (!state) return [];
  const { type, status, turnCount, toolCallCount, activity = '' } = state;
  return textContent(
    `${type}: ${status}, ${turnCount} turns, ${toolCallCount} tool calls ${activity}`.trimEnd(),
  );
}

function imagesOf({ metadata }: Document): ToolCallContent[] {
  const { images = [] } = Images.safeParse(metadata).data ?? {};
  return images.map((image) => ({ type: 'content', content: { type: 'image', ...image } }));
}

const Images = ToolCallMetadata.pick({ images: true });

function statusOf({ metadata }: Document, isDone: boolean): NonNullable<ToolCall['status']> {
  if (ToolOutcome.safeParse(metadata['result']).data?.status === 'error') return 'failed';
  if (isDone) return 'completed';
  return metadata['approval'] === undefined ? 'in_progress' : 'pending';
}

/** Why the call failed. */
function failureOf({ metadata }: Document): ToolCallContent[] {
  const outcome = ToolOutcome.safeParse(metadata['result']).data;
  return outcome?.status === 'error' ? textContent(printable(resultText(outcome))) : [];
}

/** The end of the text in a fence: no output is read as Markdown. */
function textContent(text: string): ToolCallContent[] {
  const whole = text.trimEnd();
  if (whole === '') return [];
  const end = whole.slice(-ACP_LIMITS.shownChars);
  const shown = end.length < whole.length ? `…\n${end}` : end;
  return wholeText(shown);
}

function wholeText(text: string): ToolCallContent[] {
  return [{ type: 'content', content: { type: 'text', text: fenced('', text) } }];
}

/** All that a yes signs, never cut, as a waiting call. What an editor's diff would hide is written out. */
export function proposedCall(proposal: Proposal, folder: string): ShownState {
  const path = proposal.kind === 'edit' ? posix.join(folder, proposal.path) : undefined;
  const diffs = path !== undefined && isPlain(proposal) ? diffsIn(proposal, path) : [];
  const lines = describeProposal(proposal);
  return {
    title: titleOf(proposal),
    kind: kindOf(proposal),
    status: 'pending',
    content: diffs.length > 0 ? diffs : wholeText(lines.join('\n')),
    ...(path !== undefined && { locations: [{ path }] }),
  };
}

function diffsIn(proposal: Proposal, path: string): ToolCallContent[] {
  if (proposal.kind !== 'edit') return [];
  return proposal.diff.map((diff) => diffOf(path, diff, proposal.operation));
}

/** Whether a diff shows all of an edit: nothing is cut, no character is hidden. */
function isPlain(proposal: Proposal): boolean {
  if (proposal.kind !== 'edit' || proposal.cut || proposal.operation === 'delete') return false;
  return proposal.diff.every(({ oldString, newString }) =>
    [oldString, newString].every((text) => inPlainSight(text) === text),
  );
}

function titleOf(proposal: Proposal): string {
  switch (proposal.kind) {
    case 'edit':
      return `${proposal.operation} ${nameInLine(proposal.path)}`;
    case 'command':
      return inPlainSight(proposal.command);
    case 'call':
      return `${nameInLine(proposal.offer?.tool ?? proposal.tool)} ${summaryOfArguments(proposal.arguments)}`;
    case 'elicitation':
      return `${nameInLine(proposal.server)} asks you`;
    default:
      return proposal satisfies never;
  }
}

function kindOf(proposal: Proposal): ToolKind {
  if (proposal.kind === 'command') return 'execute';
  if (proposal.kind === 'edit') return EDIT_KINDS[proposal.operation] ?? 'edit';
  return Object.hasOwn(KINDS, proposal.tool) ? KINDS[proposal.tool as ToolName] : 'other';
}
