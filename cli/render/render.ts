/** Turns the events of a response into text for a screen: pure, one event at a time. */
import { factsOf } from '../../shared/wire/document-types.ts';
import type { StreamEvent } from '../../shared/wire/events.ts';
import type { Paint } from '../terminal/paint.ts';
import { writeClarificationEvent } from './clarification.ts';
import { type LineEnds, Pen } from './pen.ts';
import { writePlanEvent, writeTodosEvent } from './plan.ts';
import { writeDone, writeNews, writeNotAttached, writeRestart } from './run.ts';
import { learn, missingEvents, type Shown, type ShownEvent } from './shown.ts';
import {
  type Drawing,
  type ResponseView,
  type ScreenPlace,
  writeLoss,
  writeTextEvent,
} from './text.ts';
import { writeLastLine, writeToolEvent } from './tool.ts';

/** What the screen shows. */
export interface RenderState {
  readonly view: ResponseView;
  readonly documents: ReadonlyMap<string, Shown>;
  /** The id of the document written last: only that document can continue inside its line. */
  readonly last: string | null;
  readonly lineEnds: LineEnds;
}

export interface Rendered {
  readonly state: RenderState;
  /** The text to write now; often empty. */
  readonly text: string;
}

/** A screen before the first event. */
export function nothingShown(view: ResponseView): RenderState {
  return { view, documents: new Map(), last: null, lineEnds: 2 };
}

/** Returns the text that an event adds. Text from outside cannot control the terminal. */
export function renderEvent(state: RenderState, event: StreamEvent, paint: Paint): Rendered {
  switch (event.type) {
    case 'response_start':
      return draw({ ...state, documents: new Map() }, null, (pen) => {
        const { attachments = [] } = event.response.metadata ?? {};
        if (state.view !== 'answer') writeNotAttached(pen, attachments, paint);
      });
    case 'attached':
      return draw(state, null, (pen) => {
        if (state.view !== 'answer') writeNotAttached(pen, event.attachments, paint);
      });
    case 'snapshot':
      return renderSnapshot(state, event.snapshot, paint);
    case 'done':
      return draw(state, null, (pen) => {
        if (state.view === 'answer') pen.line();
        else writeDone(pen, event, paint);
      });
    case 'response_model':
    case 'context_summary':
    case 'budget_near':
    case 'model_wait':
    case 'mode_update':
    case 'plan_update':
      return draw(state, null, (pen) => {
        if (state.view !== 'answer') writeNews(pen, event, paint);
      });
    case 'message':
    case 'message_update':
    case 'steered':
    case 'conversation_update':
    case 'heartbeat':
      return { state, text: '' };
    default:
      return renderDocumentEvent(state, event, paint);
  }
}

function renderDocumentEvent(state: RenderState, event: ShownEvent, paint: Paint): Rendered {
  const rendered = renderOwn(state, event, paint);
  const { last, documents } = state;
  const waiting = last === null || last === idOf(event) ? undefined : documents.get(last);
  const isWhole = !waiting || waiting.ended || waiting.outputShown >= waiting.liveOutput.length;
  if (rendered.text === '' || isWhole) return rendered;
  const above = draw(state, last, (pen) => {
    writeLastLine(pen, waiting, placeOf(state, waiting.id), paint);
  });
  const whole = { ...waiting, outputShown: waiting.liveOutput.length };
  const flushed = { ...above.state, documents: new Map(documents).set(waiting.id, whole) };
  const below = renderOwn(flushed, event, paint);
  return { state: below.state, text: above.text + below.text };
}

function renderOwn(state: RenderState, event: ShownEvent, paint: Paint): Rendered {
  const id = idOf(event);
  const place = placeOf(state, id);
  const shown = learn(place.before, event);
  if (!shown) return { state, text: '' };
  const rendered = draw(state, id, (pen) => {
    const isInView = state.view === 'all' || (state.view === 'answer') === isAnswer(shown);
    if (isInView) writeEvent({ pen, shown, event, place, paint });
    else if (isAnswer(shown)) writeLoss(pen, event, paint);
  });
  const documents = new Map(state.documents).set(id, shown);
  return { ...rendered, state: { ...rendered.state, documents } };
}

function idOf(event: ShownEvent): string {
  return event.type === 'document_start' ? event.document.id : event.documentId;
}

function placeOf(state: RenderState, id: string): ScreenPlace {
  return {
    before: state.documents.get(id),
    isLast: state.last === id,
    lastType: state.documents.get(state.last ?? '')?.type ?? null,
    view: state.view,
    documents: state.documents,
  };
}

/** Whether the document is part of the answer; the others show the work behind it. */
function isAnswer({ type }: Shown): boolean {
  return factsOf(type).voice === 'answer';
}

/** Text appears as it streams; other documents appear when there is something to show. */
function writeEvent(drawing: Drawing): void {
  const { shown } = drawing;
  switch (shown.type) {
    case 'text':
    case 'code_block':
    case 'code_reference':
    case 'reasoning':
      return writeTextEvent(drawing);
    case 'plan':
      return writePlanEvent(drawing);
    case 'clarification':
      return writeClarificationEvent(drawing);
    case 'todo_update':
      return writeTodosEvent(drawing);
    case 'tool_call':
    case 'file_edit':
    case 'terminal_command':
    case 'error':
      return writeToolEvent(drawing);
    default:
      // A type of a later version: the screen leaves it out.
      return void (shown.type satisfies never);
  }
}

type SnapshotState = Extract<StreamEvent, { type: 'snapshot' }>['snapshot'];

/** Writes what the screen lacks; writes the whole answer again if the screen and the snapshot contradict each other. */
function renderSnapshot(state: RenderState, snapshot: SnapshotState, paint: Paint): Rendered {
  if (snapshot.scope !== 'response') return { state, text: '' };
  const news = missingEvents(state.documents, snapshot.response);
  if (news) return renderAll(state, news, paint);
  const restart = draw(state, null, (pen) => {
    if (state.view === 'answer') pen.gap();
    else writeRestart(pen, paint);
  });
  const blank = { ...restart.state, documents: new Map() };
  const all = renderAll(blank, missingEvents(blank.documents, snapshot.response) ?? [], paint);
  return { state: all.state, text: restart.text + all.text };
}

function renderAll(state: RenderState, events: readonly StreamEvent[], paint: Paint): Rendered {
  let rendered: Rendered = { state, text: '' };
  for (const event of events) {
    const next = renderEvent(rendered.state, event, paint);
    rendered = { state: next.state, text: rendered.text + next.text };
  }
  return rendered;
}

/** Writes at the screen's position. A document that writes nothing does not become `last`. */
function draw(state: RenderState, id: string | null, write: (pen: Pen) => void): Rendered {
  const pen = new Pen(state.lineEnds);
  write(pen);
  const last = pen.text === '' ? state.last : id;
  return { state: { ...state, last, lineEnds: pen.lineEnds }, text: pen.text };
}
