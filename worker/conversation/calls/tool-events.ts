/** The tape's events for a tool's result. Pure. */
import * as z from 'zod';
import { parseObject } from '../../../packages/model/index.ts';
import { CallId } from '../../../shared/ids.ts';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { documentOf, metadataOfArguments, subjectOf } from '../../../shared/tools/definition.ts';
import type { Tool, Toolbox } from '../../../shared/tools/toolbox.ts';
import { factsOf } from '../../../shared/wire/document-types.ts';
import {
  ClarificationMetadata,
  type Document,
  FileEditMetadata,
  type Metadata,
  PlanMetadata,
  TerminalCommandMetadata,
  TodoUpdateMetadata,
  ToolCallMetadata,
} from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import type { Call, RunMode } from '../store/rows.ts';
import { errorDocument } from '../tape/error-document.ts';
import { reportOfCall } from './error-report.ts';

/** The events that end a call's `document` (undefined: lost). A failed call adds an `error` document at `sequence`. */
export function resultEvents(
  call: Call,
  document: Document | undefined,
  result: ToolResult,
  { toolbox, sequence, trace }: ResultPlace,
): TapeEvent[] {
  const { documentId } = call;
  const outcome = { status: result.status, data: result.data };
  const metadata = endMetadata(call, document?.metadata, result, toolbox);
  return [
    { type: 'tool_result', documentId, result: outcome },
    { type: 'document_end', documentId, ...writtenContent(document, result), metadata },
    ...attentionEvents(documentId, metadata),
    ...(result.status === 'error'
      ? errorDocument(
          sequence,
          reportOfCall(toolbox.find(call.name)?.name ?? call.name, result),
          trace,
        )
      : []),
  ];
}

/** What a person wrote in place of the content that the model streamed. */
function writtenContent(
  document: Document | undefined,
  { status, metadata }: ToolResult,
): { finalContent?: string } {
  const written = metadata?.['written'];
  const isWritten = status === 'success' && document?.type === 'file_edit';
  return isWritten && typeof written === 'string' ? { finalContent: written } : {};
}

/** What the events of a result need of their run. */
interface ResultPlace {
  readonly toolbox: Toolbox;
  /** Of the next document. */
  readonly sequence: number;
  readonly trace: string | undefined;
}

/** Says that the run goes on in another mode. */
export function switchEvent(responseId: string, { mode, own }: RunMode): TapeEvent {
  return { type: 'mode_update', responseId, mode, ...(own && { ownMode: own.name }) };
}

/** Committed with the document's end, so that it costs no row. */
function attentionEvents(documentId: string, { newlyProtected }: Metadata): TapeEvent[] {
  const items = TerminalCommandMetadata.shape.newlyProtected.safeParse(newlyProtected).data ?? [];
  return items.length === 0 ? [] : [{ type: 'attention', documentId, items }];
}

/** The events that end a document without a result of its own. `call` is its logged call, if it has one. */
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
  if (factsOf(document.type).finishedBy === null) return [end];
  const outcome = { status: result.status, data: result.data };
  return [
    ...withdrawnQuestion(document),
    { type: 'tool_result', documentId: document.id, result: outcome },
    end,
  ];
}

/** Closes the document's open approval question, because its call ended in another way. */
export function withdrawnQuestion({ id: documentId, metadata }: Document): TapeEvent[] {
  const asked = Approval.safeParse(metadata['approval']).data;
  if (!asked) return [];
  const { callId } = asked;
  return [{ type: 'approval_resolved', documentId, callId, decision: 'expired', by: 'drawbridge' }];
}

/** The part needed here of what the fold keeps of an `approval_request`. */
const Approval = z.object({ callId: CallId });

/** Takes back a turn's documents after sequence `kept`. Errors between them belong to earlier calls and stay. */
export function takenBack(documents: readonly Document[], kept: number): TapeEvent[] {
  return documents
    .filter(({ sequence, type }) => sequence > kept && type !== 'error')
    .filter(({ metadata }) => metadata['interrupted'] !== true)
    .map(({ id }) => ({ type: 'document_end', documentId: id, metadata: { interrupted: true } }));
}

/** The result, cut to what a transcript and a row can hold, with notes where it was cut and on `ignored` arguments. */
export function boundResult(result: ToolResult, ignored?: string): ToolResult {
  if (ignored !== undefined) {
    const { data, ...rest } = boundResult(result);
    return {
      ...rest,
      data: `${data}\n[arguments ignored, as unknown or given twice: ${ignored}]`,
    } as ToolResult;
  }
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

/** Keeps the fields that fit, in order: a result that cannot be stored would be sent again for ever. */
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

/** The tool's metadata, reduced to the fields of the document's type. `shown` is the document's present metadata. */
function endMetadata(
  call: Call,
  shown: Metadata | undefined,
  result: ToolResult,
  toolbox: Toolbox,
): Metadata {
  const tool = toolbox.find(call.name);
  const document = documentOf(tool);
  const reported = result.metadata ?? {};
  const { duration_ms: duration } = reported;
  const subject = shown?.['filePath'] ?? shown?.['command'];
  const known = metadataOfArguments(document, (argument) =>
    textOfArgument(call, tool, argument, argument === subjectOf(document) ? subject : undefined),
  );
  switch (document.type) {
    case 'file_edit':
      return { ...known, ...FileEditMetadata.partial().safeParse(reported).data };
    case 'terminal_command':
      return {
        ...known,
        // A successful command without an exit code runs on in the background.
        ...(result.status === 'error' && { exitCode: -1 }),
        // What was shown of a command that was stopped stays.
        ...(shown?.['output'] === undefined && { output: '' }),
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
    case 'tool_call':
      return {
        duration_ms: typeof duration === 'number' && duration >= 0 ? duration : 0,
        ...ToolCallMetadata.pick({ images: true, undo: true }).safeParse(reported).data,
      };
    default:
      return document satisfies never;
  }
}

/** The path or command of the call. Of a refused call it is in `shown`, or only in the text of the arguments. */
function textOfArgument(
  call: Call,
  tool: Tool | undefined,
  argument: string,
  shown: unknown,
): string {
  const raw = parseObject(call.rawArguments) ?? {};
  const written = tool?.meant(raw) ?? raw;
  const known = [call.arguments?.[argument], shown, written[argument]];
  return known.find((value) => typeof value === 'string') ?? '';
}
