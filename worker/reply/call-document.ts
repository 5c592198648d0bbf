/** The document of one tool call, from the call's name to its arguments; the conversation adds what it comes to. */
import type { DocumentType, Metadata } from '../../shared/documents.ts';
import { languageOf } from '../../shared/languages.ts';
import { renameArguments, type ToolDocument } from '../../shared/tools/definition.ts';
import type { Tool, Toolbox } from '../../shared/tools/toolbox.ts';
import type { CallPiece } from '../upstream/assembly.ts';
import type { UpstreamCall } from '../upstream/calls.ts';
import { type ArgumentEvent, ArgumentReader } from './arguments.ts';
import type { DocumentWriter } from './document-writer.ts';

/** A call of a reply that has ended. */
export interface ReplyCall extends UpstreamCall {
  readonly callId: string;
  readonly documentId: string;
}

/**
 * Follows the arguments as they are written. The document waits for the one that is its subject (a path, a command)
 * before it starts; the one that is its content streams.
 */
export class CallDocument {
  readonly #writer: DocumentWriter;
  readonly #callId: string;
  readonly #toolbox: Toolbox;
  readonly #onReady: () => void;
  #name: string | null = null;
  #tool: Tool | undefined;
  #shape: Shape = shapeOf({ type: 'tool_call' });
  /** '' until the document starts. */
  #documentId = '';
  readonly #reader = new ArgumentReader();
  /** Fragments that came before the name. */
  #early = '';
  readonly #subject = new StreamedArgument();
  readonly #content = new StreamedArgument();

  /** `onReady` is called when the document waits for nothing but {@link start}. */
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
    if (this.#shape.subject === null) this.#startWhenReady();
    if (this.#isFollowed) for (const event of this.#reader.push(this.#early)) this.#take(event);
    this.#early = '';
  }

  /** Starts the document with what is known, once; without a name there is nothing to start. */
  start(): void {
    if (this.#name === null || this.#documentId !== '') return;
    const subject = this.#subject.isWhole ? this.#subject.text : undefined;
    const toolName = this.#tool?.name ?? this.#name;
    const { type } = this.#shape;
    const metadata = type === 'tool_call' ? { toolName } : this.#shape.metadata(subject);
    const documentId = this.#writer.start(type, metadata);
    this.#documentId = documentId;
    this.#writer.add({ type: 'tool_call_start', documentId, toolName, toolCallId: this.#callId });
    if (this.#content.text !== '') this.#writer.addContent(documentId, this.#content.text);
  }

  /** The reply has ended: the rest of the document but its end, which comes with the call's result. */
  finish(call: UpstreamCall): ReplyCall {
    if (this.#name === null) this.#setName(call.name);
    const args = call.arguments && renameArguments(this.#tool ?? { renamed: {} }, call.arguments);
    const { subject, content } = this.#shape;
    if (args && subject !== null) this.#subject.complete(args[subject]);
    this.start();
    const documentId = this.#documentId;
    const rest = args && content !== null ? this.#content.complete(args[content]) : '';
    if (rest !== '') this.#writer.addContent(documentId, rest);
    this.#writer.add({ type: 'tool_call_arguments', documentId, arguments: args ?? {} });
    return { ...call, arguments: args, callId: this.#callId, documentId };
  }

  /** Whether any argument is wanted before all are there. */
  get #isFollowed(): boolean {
    return this.#shape.subject !== null || this.#shape.content !== null;
  }

  #setName(name: string): void {
    this.#name = name;
    this.#tool = this.#toolbox.find(name);
    this.#shape = shapeOf(this.#tool?.document ?? { type: 'tool_call' });
  }

  #take(event: ArgumentEvent): void {
    const { renamed = {} } = this.#tool ?? {};
    const name = Object.hasOwn(renamed, event.name) ? renamed[event.name] : event.name;
    if (name === this.#shape.subject) this.#subject.take(event);
    const delta = name === this.#shape.content ? this.#content.take(event) : '';
    if (this.#documentId === '') this.#startWhenReady();
    else if (delta !== '') this.#writer.addContent(this.#documentId, delta);
  }

  /** With all that is wanted at the start, or without, where the content has come first. */
  #startWhenReady(): void {
    if (this.#documentId !== '') return;
    const isReady = this.#shape.subject === null || this.#subject.isWhole;
    if (isReady || this.#content.hasBegun) this.#onReady();
  }
}

/** What the call's document is made of; `subject` and `content` are names of arguments. */
interface Shape {
  readonly type: DocumentType;
  readonly subject: string | null;
  readonly content: string | null;
  /** What it starts with; `subject` is undefined where it is not known yet. */
  readonly metadata: (subject: string | undefined) => Metadata | undefined;
}

function shapeOf(document: ToolDocument): Shape {
  const { type } = document;
  switch (type) {
    case 'tool_call':
      return { type, subject: null, content: null, metadata: () => undefined };
    case 'terminal_command':
      return {
        type,
        subject: document.command,
        content: null,
        metadata: (command) => (command === undefined ? undefined : { command }),
      };
    case 'todo_update':
      return { type, subject: null, content: null, metadata: () => undefined };
    case 'plan':
    case 'clarification':
      return { type, subject: null, content: document.content, metadata: () => undefined };
    case 'file_edit': {
      const { path, content, operation } = document;
      return {
        type,
        subject: path,
        content,
        metadata: (filePath) =>
          filePath === undefined
            ? { operation }
            : { filePath, operation, language: languageOf(filePath) },
      };
    }
    default:
      return document satisfies never;
  }
}

/** A string argument as far as it was written, under the first of its names that came. */
class StreamedArgument {
  text = '';
  isWhole = false;
  #name: string | null = null;

  get hasBegun(): boolean {
    return this.#name !== null;
  }

  /** Returns what the event added. */
  take(event: ArgumentEvent): string {
    this.#name ??= event.name;
    if (event.name !== this.#name) return '';
    if (event.type === 'end') this.isWhole = true;
    else this.text += event.delta;
    return event.type === 'end' ? '' : event.delta;
  }

  /** With the value that was parsed in the end; returns what streaming missed (a server that sent no plain JSON). */
  complete(value: unknown): string {
    if (typeof value !== 'string' || !value.startsWith(this.text)) return '';
    const rest = value.slice(this.text.length);
    this.text = value;
    this.isWhole = true;
    return rest;
  }
}
