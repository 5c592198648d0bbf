/** Writes the document of one tool call, from its name to its arguments. The conversation adds the result. */

import type { CallPiece, UpstreamCall } from '../../packages/model/index.ts';
import {
  documentOf,
  metadataOfArguments,
  subjectOf,
  type ToolDocument,
} from '../../shared/tools/definition.ts';
import type { Tool, Toolbox } from '../../shared/tools/toolbox.ts';
import { type ArgumentEvent, ArgumentReader } from './arguments.ts';
import type { DocumentWriter } from './document-writer.ts';

/** A call of a reply that has finished, with the ids it has here. */
export interface ReplyCall extends UpstreamCall {
  readonly callId: string;
  readonly documentId: string;
}

/** Follows arguments as they are written. The document starts once its subject (a path, a command) is complete. */
export class CallDocument {
  readonly #writer: DocumentWriter;
  readonly #callId: string;
  readonly #toolbox: Toolbox;
  readonly #onReady: () => void;
  #name: string | null = null;
  #tool: Tool | undefined;
  #document = documentOf(undefined);
  /** '' until the document starts. */
  #documentId = '';
  readonly #reader = new ArgumentReader();
  /** Fragments that came before the name. */
  #early = '';
  readonly #subject = new StreamedArgument();
  readonly #content = new StreamedArgument();

  /** Calls `onReady` when the document only waits for {@link start}. */
  constructor(writer: DocumentWriter, callId: string, toolbox: Toolbox, onReady: () => void) {
    this.#writer = writer;
    this.#callId = callId;
    this.#toolbox = toolbox;
    this.#onReady = onReady;
  }

  /** Takes a piece of the call. */
  push({ name, arguments: fragment = '' }: CallPiece): void {
    this.#early += fragment;
    if (name !== undefined) this.#setName(name);
    if (this.#name === null) return;
    if (this.#subjectName === null) this.#startWhenReady();
    if (this.#isFollowed) for (const event of this.#reader.push(this.#early)) this.#take(event);
    this.#early = '';
  }

  /** Starts the document with the arguments known so far. Has no effect before the name is known, or a second time. */
  start(): void {
    if (this.#name === null || this.#documentId !== '') return;
    const subject = this.#subject.isWhole ? this.#subject.text : undefined;
    const toolName = this.#tool?.name ?? this.#name;
    const { type } = this.#document;
    const known = metadataOfArguments(this.#document, (name) =>
      name === this.#subjectName ? subject : undefined,
    );
    const form = this.#tool?.form;
    const ofApp = this.#tool?.executor === 'client' && { isOfApp: true, ...(form && { form }) };
    const metadata = type === 'tool_call' ? { toolName, ...ofApp } : known;
    const documentId = this.#writer.start(type, metadata);
    this.#documentId = documentId;
    this.#writer.add({ type: 'tool_call_start', documentId, toolName, toolCallId: this.#callId });
    if (this.#content.text !== '') this.#writer.addContent(documentId, this.#content.text);
  }

  /** Call at the end of the reply. Writes the rest of the document. Its end comes with the call's result. */
  finish(call: UpstreamCall): ReplyCall {
    if (this.#name === null) this.#setName(call.name);
    const args = call.arguments && (this.#tool?.meant(call.arguments) ?? call.arguments);
    const [subject, content] = [this.#subjectName, this.#contentName];
    if (args && subject !== null) this.#subject.complete(args[subject]);
    this.start();
    const documentId = this.#documentId;
    const rest = args && content !== null ? this.#content.complete(args[content]) : '';
    if (rest !== '') this.#writer.addContent(documentId, rest);
    this.#writer.add({ type: 'tool_call_arguments', documentId, arguments: args ?? {} });
    return { ...call, arguments: args, callId: this.#callId, documentId };
  }

  /** Whether the document needs any argument before the call is complete. */
  get #isFollowed(): boolean {
    return this.#subjectName !== null || this.#contentName !== null;
  }

  get #subjectName(): string | null {
    return subjectOf(this.#document);
  }

  get #contentName(): string | null {
    return contentOf(this.#document);
  }

  #setName(name: string): void {
    this.#name = name;
    this.#tool = this.#toolbox.find(name);
    this.#document = documentOf(this.#tool);
  }

  #take(event: ArgumentEvent): void {
    const { renamed = {} } = this.#tool ?? {};
    const name = Object.hasOwn(renamed, event.name) ? renamed[event.name] : event.name;
    if (name === this.#subjectName) this.#subject.take(event);
    const delta = name === this.#contentName ? this.#content.take(event) : '';
    if (this.#documentId === '') this.#startWhenReady();
    else if (delta !== '') this.#writer.addContent(this.#documentId, delta);
  }

  /** Ready if the subject is complete, or if the content has come before it. */
  #startWhenReady(): void {
    if (this.#documentId !== '') return;
    const isReady = this.#subjectName === null || this.#subject.isWhole;
    if (isReady || this.#content.hasBegun) this.#onReady();
  }
}

/** The argument that streams as the document's content; null if none does. */
function contentOf(document: ToolDocument): string | null {
  return 'content' in document ? document.content : null;
}

/** A string argument as far as it was written. If it comes under several names, the first one counts. */
class StreamedArgument {
  text = '';
  isWhole = false;
  #name: string | null = null;

  get hasBegun(): boolean {
    return this.#name !== null;
  }

  /** Returns the text that the event added. */
  take(event: ArgumentEvent): string {
    this.#name ??= event.name;
    if (event.name !== this.#name) return '';
    if (event.type === 'end') this.isWhole = true;
    else this.text += event.delta;
    return event.type === 'end' ? '' : event.delta;
  }

  /** Takes the value parsed at the end. Returns the text that streaming missed, if the server sent no plain JSON. */
  complete(value: unknown): string {
    if (typeof value !== 'string' || !value.startsWith(this.text)) return '';
    const rest = value.slice(this.text.length);
    this.text = value;
    this.isWhole = true;
    return rest;
  }
}
