/** Tapes of one response for the tests of the mapper, and what the SDK makes of chunks. */
import { asSchema, readUIMessageStream, type UIMessage, uiMessageChunkSchema } from 'ai';
import { expect } from 'vitest';
import { documentIdOf } from '../../../shared/ids.ts';
import type { DocumentType, Metadata } from '../../../shared/wire/documents.ts';
import { isDelta, type TapeEvent } from '../../../shared/wire/events.ts';
import { ChunkReader } from '../../ui-messages/chunk-reader.ts';
import type { UiChunk } from '../../ui-messages/chunks.ts';

export const RESPONSE = 'chat_00000000-0000-4000-8000-000000000001';
export const CONVERSATION = 'conv_00000000-0000-4000-8000-000000000000';
export const CALL = 'call_00000000-0000-4000-8000-000000000002';
export const USAGE = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };

export const START: TapeEvent = {
  type: 'response_start',
  response: {
    id: RESPONSE,
    conversationId: CONVERSATION,
    model: 'm',
    mode: 'agent',
    created: '2026-01-01T00:00:00Z',
  },
};

export function done(status: 'completed' | 'error' | 'cancelled' = 'completed'): TapeEvent {
  const metadata = { duration_ms: 1, toolCallCount: 0, turnCount: 1 };
  return { type: 'done', responseId: RESPONSE, status, usage: USAGE, metadata };
}

/** A document with its text, from its start to its end. */
export function said(
  sequence: number,
  type: DocumentType,
  content: string,
  metadata?: Metadata,
): TapeEvent[] {
  const id = documentIdOf(sequence);
  return [
    { type: 'document_start', document: { id, type, sequence, ...(metadata && { metadata }) } },
    { type: 'content_delta', documentId: id, delta: content },
    { type: 'document_end', documentId: id, finalContent: content },
  ];
}

/** The start of a call, and its end. */
export function called(
  sequence: number,
  type: DocumentType,
  toolName: string,
  toolCallId = CALL,
): { start: TapeEvent[]; end: (data: unknown, status?: 'success' | 'error') => TapeEvent[] } {
  const documentId = documentIdOf(sequence);
  return {
    start: [
      { type: 'document_start', document: { id: documentId, type, sequence } },
      { type: 'tool_call_start', documentId, toolName, toolCallId },
      { type: 'tool_call_arguments', documentId, arguments: { path: 'a.txt' } },
    ],
    end: (data, status = 'success') => [
      { type: 'tool_result', documentId, result: { status, data } },
      { type: 'document_end', documentId, metadata: { duration_ms: 5 } },
    ],
  };
}

export function interrupted(sequence: number): TapeEvent {
  const metadata = { interrupted: true };
  return { type: 'document_end', documentId: documentIdOf(sequence), metadata };
}

/** The chunks of a fresh reader, each of which the SDK's own schema takes. */
export async function chunksOf(...tapes: readonly (readonly TapeEvent[])[]): Promise<UiChunk[]> {
  const reader = newReader();
  const chunks = tapes.flatMap((tape) => reader.read(tape));
  const schema = asSchema(uiMessageChunkSchema);
  for (const chunk of chunks) {
    expect(await schema.validate?.(chunk)).toMatchObject({ success: true });
  }
  return chunks;
}

/** Has the chunks up to the number `after`. */
export function newReader(after = -1): ChunkReader {
  const caller = { account: 'ada', conversationId: CONVERSATION };
  return new ChunkReader({ caller, responseId: RESPONSE }, after);
}

/** What a chat of the SDK shows in the end, and the errors that it reports. */
export async function shownBy(
  chunks: readonly UiChunk[],
): Promise<{ message: UIMessage | undefined; errors: string[] }> {
  const errors: string[] = [];
  const stream = new ReadableStream<UiChunk>({
    start(controller) {
      // The SDK keeps the chunks of documents, and changes them.
      for (const chunk of structuredClone(chunks)) controller.enqueue(chunk);
      controller.close();
    },
  });
  let message: UIMessage | undefined;
  const onError = (error: unknown) => errors.push(String(error));
  for await (const state of readUIMessageStream({ stream, onError })) message = state;
  return { message, errors };
}

/** Every delta cut into pieces of `size` UTF-16 units. */
export function cutInto(tape: readonly TapeEvent[], size: number | (() => number)): TapeEvent[] {
  return tape.flatMap((event): TapeEvent[] => {
    if (!isDelta(event)) return [event];
    const pieces: TapeEvent[] = [];
    for (let at = 0; at < event.delta.length; ) {
      const end = at + (typeof size === 'number' ? size : size());
      pieces.push({ ...event, delta: event.delta.slice(at, end) });
      at = end;
    }
    return pieces;
  });
}
