/** The transcript of one answer, as the events of a conversation make it. */
import { setCapabilityOverrides } from '@earendil-works/pi-tui';
import { type Paint, plain } from '../../../cli/terminal/paint.ts';
import { markdownTheme } from '../../../cli/tui/theme.ts';
import { CodeColours } from '../../../cli/tui/transcript/code-colours.ts';
import type { Look } from '../../../cli/tui/transcript/look.ts';
import { Transcript } from '../../../cli/tui/transcript/transcript.ts';
import type { ConversationView, Document, StreamEvent } from '../../../client/index.ts';
import { documentIdOf, responseIdOf } from '../../../shared/ids.ts';
import { foldConversation } from '../../../shared/wire/fold.ts';

export interface ShownTranscript {
  readonly transcript: Transcript;
  readonly look: Look;
  readonly view: ConversationView;
  show(...events: readonly StreamEvent[]): void;
  /** As the screen has it, without blanks at the ends of lines. */
  lines(width?: number): string[];
}

/** A conversation in which a person has said `Do it.`, and the answer has begun. `isLoaded`: whether code has colours. */
export async function openTranscript(
  paint: Paint = plain,
  { isLoaded = true } = {},
): Promise<ShownTranscript> {
  setCapabilityOverrides({ hyperlinks: false, images: null });
  const colours = new CodeColours(paint);
  if (isLoaded) await colours.load();
  const markdown = markdownTheme(paint, colours);
  const look: Look = {
    paint,
    colours,
    markdown,
    device: 'here',
    isExpanded: false,
    answeredHere: new Set(),
  };
  const transcript = new Transcript(look);
  const view: ConversationView = {
    id: CONVERSATION,
    title: '',
    archived: false,
    created: NOW,
    bridgeId: null,
    messages: [],
    responses: [],
    earlier: null,
    position: 0,
  };
  const show = (...events: readonly StreamEvent[]) => {
    for (const event of events) {
      foldConversation(view, event);
      transcript.show(view, event);
    }
  };
  show({ type: 'message', message: { responseId: RESPONSE, content: 'Do it.', created: NOW } });
  show({ type: 'response_start', response: { ...START, id: RESPONSE } });
  const lines = (width = 80) => transcript.render(width).map((line) => line.trimEnd());
  return { transcript, look, view, show, lines };
}

const CONVERSATION = 'conv_00000000-0000-4000-8000-000000000000';
const NOW = '2026-11-20T12:00:00Z';
const START = { conversationId: CONVERSATION, model: 'demo', mode: 'agent', created: NOW } as const;

/** The id of the answer. */
export const RESPONSE = responseIdOf(CONVERSATION, 1);

/** What a document has at its end. */
export type WholeDocument = Pick<Document, 'type'> &
  Partial<Pick<Document, 'content' | 'metadata'>>;

/** The events of a document from its start to its end. */
export function eventsOf(document: WholeDocument, sequence: number): StreamEvent[] {
  return [...begunEventsOf(document, sequence), endOf(sequence)];
}

/** {@link eventsOf} without the end. */
export function begunEventsOf(document: WholeDocument, sequence: number): StreamEvent[] {
  const { type, content, metadata = {} } = document;
  const id = documentIdOf(sequence);
  return [
    { type: 'document_start', document: { id, type, sequence, metadata } },
    ...(content ? [deltaOf(content, sequence)] : []),
  ];
}

/** More of a document's text. */
export function deltaOf(delta: string, sequence = 1): StreamEvent {
  return { type: 'content_delta', documentId: documentIdOf(sequence), delta };
}

/** The end of a document. */
export function endOf(sequence: number, metadata = {}): StreamEvent {
  return { type: 'document_end', documentId: documentIdOf(sequence), metadata };
}

/** The end of the answer. */
export function doneWith(status: 'completed' | 'error' | 'cancelled'): StreamEvent {
  const metadata = { duration_ms: 1_200, toolCallCount: 0, turnCount: 1 };
  return { type: 'done', responseId: RESPONSE, status, usage: null, metadata };
}
