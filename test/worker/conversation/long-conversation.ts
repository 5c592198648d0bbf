/** Conversations that are as long as a test wants, written as the runs would have written them. */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { newConversationId, responseIdOf } from '../../../shared/ids.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import type { Run, RunRequest } from '../../../worker/conversation/store/rows.ts';
import { ConversationStore } from '../../../worker/conversation/store/statements.ts';
import { type EventOnTape, Tape } from '../../../worker/conversation/tape/tape.ts';
import { conversationObject } from './conversing.ts';

const CREATED = '2026-11-20T12:00:00.000Z';

export interface Long {
  readonly account: string;
  readonly conversationId: string;
}

/** Exchanges that have finished, each answered with as many characters as `charsOf` says of its ordinal. */
export async function writeLong(
  exchanges: number,
  charsOf: (ordinal: number) => number = () => 40,
): Promise<Long> {
  const account = `long-${crypto.randomUUID()}`;
  const conversationId = newConversationId(crypto.randomUUID());
  const stub = conversationObject(conversationId);
  await runInDurableObject(stub, (_, { storage }) => {
    const writer = new ConversationWriter(storage.sql, conversationId, account);
    for (let ordinal = 1; ordinal <= exchanges; ordinal++) {
      writer.say(ordinal, `Question ${ordinal}`);
      writer.start(ordinal);
      writer.answer(ordinal, `Answer ${ordinal} `.padEnd(charsOf(ordinal), 'x'));
      writer.end(ordinal, 'completed');
    }
  });
  await evictDurableObject(stub);
  return { account, conversationId };
}

/** Writes a conversation step by step, with its runs, as the object would. */
export class ConversationWriter {
  readonly tape: Tape;
  readonly #store: ConversationStore;
  readonly #conversationId: string;
  #turns = 0;

  constructor(sql: SqlStorage, conversationId: string, account: string) {
    this.#store = new ConversationStore(sql);
    this.#conversationId = conversationId;
    this.#store.create({
      id: conversationId,
      owner: account,
      bridge: null,
      created: CREATED,
      title: 'Long',
      archived: false,
      ephemeral: false,
      deleteAfterHours: null,
      titleAttempts: null,
    });
    this.tape = new Tape(this.#store, false);
  }

  say(ordinal: number, content: string): void {
    const message = { responseId: this.idOf(ordinal), content, created: CREATED, device: 'laptop' };
    const [said] = this.record({ type: 'message', message });
    this.#store.runs.insertRun({
      ordinal,
      status: 'queued',
      first: said?.start ?? 0,
      started: null,
      request: requestOf(content),
      machine: null,
      firstTurn: null,
    });
  }

  steer(ordinal: number, content: string): void {
    const message = { responseId: this.idOf(ordinal), content, created: CREATED };
    this.record({ type: 'message', message: { ...message, steers: true } });
  }

  edit(ordinal: number, content: string): void {
    this.record({ type: 'message_update', responseId: this.idOf(ordinal), content });
    this.#store.runs.updateRequest(ordinal, requestOf(content));
  }

  rename(title: string): void {
    this.record({ type: 'conversation_update', title, archived: false });
  }

  start(ordinal: number): void {
    const response = {
      id: this.idOf(ordinal),
      conversationId: this.#conversationId,
      model: 'scripted',
      mode: 'agent' as const,
      created: CREATED,
    };
    const [begun] = this.record({ type: 'response_start', response });
    const started = { started: begun?.start ?? 0, machine: null, firstTurn: this.#turns + 1 };
    this.#store.runs.startRun({ ...this.#runOf(ordinal), ...started });
  }

  /** One document and the turn behind it. */
  answer(ordinal: number, text: string, sequence = 1): void {
    const documentId = `doc_${String(sequence).padStart(3, '0')}`;
    this.record(
      { type: 'document_start', document: { id: documentId, type: 'text', sequence } },
      { type: 'content_delta', documentId, delta: text },
      { type: 'document_end', documentId },
    );
    this.#store.runs.turns.insertTurn({
      number: ++this.#turns,
      run: ordinal,
      text,
      reasoning: null,
      calls: [],
      usage: null,
      lastSequence: sequence,
      atMs: Date.parse(CREATED),
    });
  }

  end(ordinal: number, status: 'completed' | 'cancelled'): void {
    const metadata = { duration_ms: 5, toolCallCount: 0, turnCount: 1 };
    const responseId = this.idOf(ordinal);
    const [done] = this.record({ type: 'done', responseId, status, usage: null, metadata });
    this.#store.runs.endRun(ordinal, { status, last: done?.end ?? 0 });
  }

  record(...events: TapeEvent[]): EventOnTape[] {
    return this.tape.append(events, 'now');
  }

  idOf(ordinal: number): string {
    return responseIdOf(this.#conversationId, ordinal);
  }

  #runOf(ordinal: number): Run {
    const run = this.#store.runs.readRun(ordinal);
    if (!run) throw new Error(`no run ${ordinal}`);
    return run;
  }
}

function requestOf(content: string): RunRequest {
  const messages = [{ role: 'user' as const, content }];
  const createdMs = Date.parse(CREATED);
  return { type: 'message', model: 'scripted', mode: 'agent', messages, createdMs };
}
