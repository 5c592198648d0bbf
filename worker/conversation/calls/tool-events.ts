/** What a tool's result looks like on the tape: pure. */
import * as z from 'zod';
import {
  ClarificationMetadata,
  type Document,
  type DocumentType,
  FileEditMetadata,
  type Metadata,
  PlanMetadata,
  TerminalCommandMetadata,
  TodoUpdateMetadata,
} from '../../../shared/documents.ts';
import type { TapeEvent } from '../../../shared/events.ts';
import { CallId } from '../../../shared/ids.ts';
import { languageOf } from '../../../shared/languages.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { renameArguments } from '../../../shared/tools/definition.ts';
import type { Tool, Toolbox } from '../../../shared/tools/toolbox.ts';
import type { ToolResult } from '../../../shared/tunnel.ts';
import { parseObject } from '../../upstream/loose-json.ts';
import type { Call } from '../store/rows.ts';
import { errorDocument } from '../tape/error-document.ts';
import { reportOfCall } from './error-report.ts';

/**
 * The end of a call's `document`, undefined where it is lost; a failed call is followed by an `error` document, numbered
 * `sequence`.
 */
export function resultEvents(
  call: Call,
  document: Document | undefined,
  result: ToolResult,
  { toolbox, sequence }: { readonly toolbox: Toolbox; readonly sequence: number },
): TapeEvent[] {
  const { documentId } = call;
  const outcome = { status: result.status, data: result.data };
  const metadata = endMetadata(call, document?.metadata, result, toolbox);
  return [
    { type: 'tool_result', documentId, result: outcome },
    { type: 'document_end', documentId, metadata },
    ...attentionEvents(documentId, metadata),
    ...(result.status === 'error'
      ? errorDocument(sequence, reportOfCall(toolbox.nameOf(call.name), result))
      : []),
  ];
}

/** In the commit of the document's end, so that it costs no row. */
function attentionEvents(documentId: string, { newlyProtected }: Metadata): TapeEvent[] {
  const items = TerminalCommandMetadata.shape.newlyProtected.safeParse(newlyProtected).data ?? [];
  return items.length === 0 ? [] : [{ type: 'attention', documentId, items }];
}

/** The end of a document that stays without a result of its own; `call` where it belongs to a logged one. */
export function closingEvents(
  document: Document,
  call: Call | undefined,
  result: ToolResult,
  toolbox: Toolbox,
): TapeEvent[] {
  const end: TapeEvent = {
    type: 'document_end',
    documentId: document.id,
    ...(call && { metadata: endMetadata(call, document.metadata, result, toolbox) }),
  };
  if (!TOOL_DOCUMENTS.has(document.type)) return [end];
  const outcome = { status: result.status, data: result.data };
  return [
    ...withdrawnQuestion(document),
    { type: 'tool_result', documentId: document.id, result: outcome },
    end,
  ];
}

/** A question on this document that nobody needs to answer any more: its call has ended in another way. */
export function withdrawnQuestion({ id: documentId, metadata }: Document): TapeEvent[] {
  const asked = Approval.safeParse(metadata['approval']).data;
  if (!asked) return [];
  const { callId } = asked;
  return [{ type: 'approval_resolved', documentId, callId, decision: 'expired', by: 'drawbridge' }];
}

/** What the fold keeps of an `approval_request`. */
const Approval = z.object({ callId: CallId });

/**
 * Takes back what a turn showed that will be asked again: its documents, ended or not, are those after sequence `kept`.
 * Errors between them tell of the calls of the turn before and stay.
 */
export function takenBack(documents: readonly Document[], kept: number): TapeEvent[] {
  return documents
    .filter(({ sequence, type }) => sequence > kept && type !== 'error')
    .filter(({ metadata }) => metadata['interrupted'] !== true)
    .map(({ id }) => ({ type: 'document_end', documentId: id, metadata: { interrupted: true } }));
}

const TOOL_DOCUMENTS: ReadonlySet<DocumentType> = new Set([
  'tool_call',
  'file_edit',
  'terminal_command',
  'plan',
  'clarification',
  'todo_update',
]);

/** The result within what a transcript and a row can hold, with a note where it was cut. */
export function boundResult(result: ToolResult): ToolResult {
  const { maxResultChars } = RUN_LIMITS;
  const bounded = result.metadata
    ? { ...result, metadata: boundMetadata(result.metadata) }
    : result;
  if (result.data.length <= maxResultChars) return bounded;
  const cut = result.data.slice(0, maxResultChars).toWellFormed();
  return {
    ...bounded,
    data: `${cut}\n[cut: ${result.data.length - maxResultChars} more characters]`,
  };
}

/** Its fields in order, as long as they fit. Bridges keep far below; a result that cannot be stored would come for ever. */
function boundMetadata(metadata: Metadata): Metadata {
  const encoder = new TextEncoder();
  let left = RUN_LIMITS.maxResultMetadataBytes;
  const fitting = Object.entries(metadata).filter((field) => {
    const bytes = encoder.encode(JSON.stringify(field)).byteLength;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  });
  return Object.fromEntries(fitting);
}

/** What its tool tells of the document, reduced to the fields that its type has; `shown` is what it has already. */
function endMetadata(
  call: Call,
  shown: Metadata | undefined,
  result: ToolResult,
  toolbox: Toolbox,
): Metadata {
  const tool = toolbox.find(call.name);
  const document = tool?.document;
  const subjectOf = (argument: string, known: unknown) =>
    textOfArgument(call, tool ?? { renamed: {} }, argument, known);
  const reported = result.metadata ?? {};
  switch (document?.type) {
    case 'file_edit': {
      const filePath = subjectOf(document.path, shown?.['filePath']);
      const { operation, newPath } = document;
      const moved = newPath !== undefined && { newPath: subjectOf(newPath, undefined) };
      const known = { filePath, operation, language: languageOf(filePath), ...moved };
      return { ...known, ...FileEditMetadata.partial().safeParse(reported).data };
    }
    case 'terminal_command':
      return {
        command: subjectOf(document.command, shown?.['command']),
        // Without one, a command that succeeded runs on in the background.
        ...(result.status === 'error' && { exitCode: -1 }),
        output: '',
        duration_ms: 0,
        permissions: [],
        ...TerminalCommandMetadata.partial().safeParse(reported).data,
      };
    case 'plan':
      return { ...PlanMetadata.safeParse(reported).data };
    case 'todo_update':
      return { ...TodoUpdateMetadata.safeParse(reported).data };
    case 'clarification':
      return { ...ClarificationMetadata.safeParse(reported).data };
    default:
      return { duration_ms: durationOf(reported) };
  }
}

/**
 * The path or command that the call is about. A refused call has no arguments: what the model wrote before them is
 * `shown`, or stands in their text only.
 */
function textOfArgument(
  call: Call,
  tool: Pick<Tool, 'renamed'>,
  argument: string,
  shown: unknown,
): string {
  const written = renameArguments(tool, parseObject(call.rawArguments) ?? {});
  const known = [call.arguments?.[argument], shown, written[argument]];
  return known.find((value) => typeof value === 'string') ?? '';
}

function durationOf(reported: Metadata): number {
  const duration = reported['duration_ms'];
  return typeof duration === 'number' && duration >= 0 ? duration : 0;
}
