/** One session of an editor: a conversation that it shows, writes to and answers for. */
import type {
  AgentContext,
  AvailableCommand,
  ClientCapabilities,
  SessionUpdate,
  StopReason,
} from '@agentclientprotocol/sdk';
import {
  type ChatResponse,
  ClientError,
  type ConversationView,
  prependPart,
  type ReadEvent,
} from '../../client/index.ts';
import type { MessageContent } from '../../shared/api/requests.ts';
import { parseResponseId } from '../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { waitSentence } from '../../shared/shown/waits.ts';
import { inOneLine, inPlainSight } from '../../shared/text/plain-sight.ts';
import { isOver } from '../../shared/wire/fold.ts';
import type { Skill } from '../../shared/wire/skills.ts';
import { settingsOf } from '../chat/chat.ts';
import { findPlan } from '../chat/plan-command.ts';
import { ChatSession, insist, type UnsentMessage } from '../chat/session.ts';
import { undoFiles } from '../chat/undo.ts';
import type { ServedPlace } from '../server/place.ts';
import { complain, describeFailure } from '../terminal/failure-text.ts';
import { EditorAsks } from './asks.ts';
import { ACP_LIMITS } from './limits.ts';
import { type MissingServers, type ProposedByEditor, takeServer } from './mcp-servers.ts';
import { choose, describeSettings, type EditorChoices } from './settings.ts';
import { EditorTranscript } from './transcript.ts';

/** What a session begins with. */
export interface SessionPlace extends ServedPlace {
  readonly id: string;
  readonly editor: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly choices: EditorChoices;
}

/** A prompt whose answer is not over. */
class OpenPrompt {
  /** Undefined until the server has it. */
  responseId: string | undefined;
  isCancelled = false;
  settle!: (end: StopReason) => void;
  fail!: (error: unknown) => void;
  readonly end = new Promise<StopReason>((settle, fail) => {
    this.settle = settle;
    this.fail = fail;
  });
}

export class EditorSession implements Disposable {
  readonly #place: SessionPlace;
  readonly #session: ChatSession;
  readonly #transcript: EditorTranscript;
  readonly #asks: EditorAsks;
  readonly #ended = new AbortController();
  readonly #prompts = new Set<OpenPrompt>();
  /** While it is not 0, nothing is sent: what is not known yet belongs in front of it. */
  #holds = 0;
  #output: NodeJS.Timeout | undefined;
  /** Called when the conversation is read, or cannot be. */
  #onRead = () => {};
  #title: string | undefined;
  #mode: string;
  /** Servers of the editor that the person was not asked about. */
  #proposed: ProposedByEditor[] = [];
  #counter = 0;
  /** The message that could not be sent last. */
  #lost: UnsentMessage | undefined;

  /** A conversation that is there already is shown after {@link load}. */
  constructor(place: SessionPlace) {
    const { id, chat, capabilities, folder } = place;
    this.#place = place;
    this.#mode = chat.mode;
    this.#transcript = new EditorTranscript(folder);
    this.#asks = new EditorAsks({
      ...place,
      sessionId: id,
      hasForms: Boolean(capabilities.elicitation?.form),
      show: (update) => this.#send(update),
      say: (words) => this.#say(words),
    });
    if (chat.conversationId !== undefined) this.#holds = 1;
    this.#session = new ChatSession(chat, (event) => this.#change(event));
  }

  get settings() {
    return describeSettings(this.#place.chat, this.#place.choices);
  }

  /** Reads the conversation and sends all of it, or nothing. Rejects with a ClientError if it cannot be read. */
  async load(how: 'replay' | 'resume'): Promise<void> {
    const { chat, id } = this.#place;
    const view = await this.#read();
    while (how === 'replay' && view.earlier !== null) {
      const query = { before: view.earlier, limit: REQUEST_LIMITS.maxPageSize };
      prependPart(view, await chat.client.getConversation(id, query, this.#ended.signal));
    }
    const last = view.responses.at(-1);
    if (last) chat.mode = last.ownMode ?? last.mode;
    this.#mode = chat.mode;
    if (how === 'resume') this.#transcript.skip(view);
    this.#release();
  }

  /** An editor takes these updates only after the answer that begins the session. */
  introduce({ proposed, notice }: MissingServers): void {
    this.#proposed = [...proposed];
    this.#offer([]);
    this.#offerSkills().catch(report);
    if (notice !== undefined) this.#say(notice);
  }

  /** Resolves when the answer is over. Rejects with a ClientError if it failed, or if the server refuses the prompt. */
  async prompt(content: MessageContent, signal: AbortSignal): Promise<StopReason> {
    const prompt = new OpenPrompt();
    const cancel = () => this.#cancel(prompt);
    signal.addEventListener('abort', cancel);
    this.#prompts.add(prompt);
    this.#begin(prompt, content).catch(prompt.fail);
    try {
      return await prompt.end;
    } finally {
      this.#prompts.delete(prompt);
      signal.removeEventListener('abort', cancel);
    }
  }

  /** Cancels what the editor has asked for; without that, an answer that another device has begun. */
  cancel(): void {
    this.#asks.withdraw();
    if (this.#prompts.size === 0) this.#session.cancel().catch(report);
    this.cancelPrompts();
  }

  /** Cancels what the editor has asked for. */
  cancelPrompts(): void {
    for (const prompt of this.#prompts) this.#cancel(prompt);
  }

  /** @throws {UsageError} for a setting or a value that there is not. */
  choose(name: string, value: unknown): void {
    choose(this.#place.chat, this.#place.choices, { name, value });
    this.#showMode();
  }

  /** Nothing is shown any more. Answers go on at the server. */
  [Symbol.dispose](): void {
    clearTimeout(this.#output);
    this.#holds = Number.POSITIVE_INFINITY;
    this.#asks.withdraw();
    this.#ended.abort();
    this.#session.end();
    for (const prompt of this.#prompts) prompt.settle('cancelled');
  }

  #offer(skills: readonly AvailableCommand[]): void {
    const availableCommands = [...COMMANDS, ...skills];
    this.#send({ sessionUpdate: 'available_commands_update', availableCommands });
  }

  /** Those of the folder that a person may call and that no command above hides. */
  async #offerSkills(): Promise<void> {
    const { bridgeId } = this.#session;
    if (bridgeId === undefined) return;
    const { skills } = await this.#place.chat.client.getBridge(bridgeId, this.#ended.signal);
    const callable = skills.filter(
      ({ name, callers }) => callers !== 'model' && COMMANDS.every((own) => own.name !== name),
    );
    if (callable.length > 0) this.#offer(callable.map(commandOf));
  }

  async #read(): Promise<ConversationView> {
    const isKnown = () => this.#session.view !== undefined || this.#session.problem !== undefined;
    await new Promise<void>((resolve) => {
      this.#onRead = () => isKnown() && resolve();
      this.#onRead();
    });
    const { view, problem } = this.#session;
    if (!view) throw problem;
    return view;
  }

  async #begin(prompt: OpenPrompt, content: MessageContent): Promise<void> {
    await this.#place.rejoin();
    await this.#askAboutServers();
    if (prompt.isCancelled) return;
    const words = typeof content === 'string' ? content.trim() : '';
    if (words === '/undo' || words === '/redo') {
      await undoFiles(words === '/undo' ? 'last' : 'redo', {
        session: this.#session,
        say: (text) => this.#say(text),
        confirm: (text) => this.#asks.confirm(text),
      });
      return prompt.settle('end_turn');
    }
    this.#holds += 1;
    try {
      prompt.responseId = await (words === '/execute' ? this.#execute() : this.#sendOn(content));
      if (prompt.responseId === undefined) return prompt.settle('cancelled');
      this.#transcript.omitMessage(prompt.responseId);
    } finally {
      this.#release();
    }
    if (prompt.isCancelled) this.#cancel(prompt);
  }

  /** Asks when a prompt comes, because editors show no question before. */
  async #askAboutServers(): Promise<void> {
    for (const server of this.#proposed.splice(0)) {
      const name = inOneLine(server.name);
      const title = `Let the agent use the editor's MCP server ${name}, on this machine?`;
      const isWanted = await this.#asks.confirm(
        title,
        inPlainSight(JSON.stringify(server.definition, undefined, 2)),
      );
      if (isWanted) await takeServer(server);
      this.#say(
        isWanted ? `The bridge starts ${name} within a minute.` : `The agent does not get ${name}.`,
      );
    }
  }

  /** Undefined if the session ended before. */
  async #sendOn(content: MessageContent): Promise<string | undefined> {
    const sent = await this.#session.send(content);
    if (!sent || sent.conversationId === this.#place.id) return sent?.responseId;
    const message = `The server started the conversation ${sent.conversationId} instead of ${this.#place.id}: update this program.`;
    throw new ClientError('BAD_ANSWER', message);
  }

  /** The response that carries the newest plan out. @throws {LocalError} if there is none. */
  async #execute(): Promise<string | undefined> {
    const { chat, id } = this.#place;
    const { documentId, responseId } = await findPlan(chat.client, id);
    const request = { ...settingsOf(chat), responseId, mode: 'agent' as const };
    for await (const { event } of chat.client.executePlan(id, documentId, request)) {
      if (event.type === 'message') return event.message.responseId;
    }
    return undefined;
  }

  /** A prompt that the server does not have yet is cancelled once it has it. */
  #cancel(prompt: OpenPrompt): void {
    const { client } = this.#place.chat;
    const { responseId } = prompt;
    const settle = () => prompt.settle('cancelled');
    prompt.isCancelled = true;
    if (responseId === undefined) return settle();
    insist(() => client.cancel(responseId), this.#ended.signal, settle).catch(report);
  }

  #change(event: ReadEvent | null): void {
    this.#onRead();
    this.#sayLost();
    if (event?.type !== 'tool_output') return this.#flush(event);
    this.#output ??= setTimeout(() => {
      this.#output = undefined;
      this.#flush(null);
    }, ACP_LIMITS.outputMs);
  }

  #release(): void {
    this.#holds -= 1;
    this.#flush(null);
  }

  #flush(event: ReadEvent | null): void {
    const { view, problem, asks } = this.#session;
    if (this.#holds > 0) return;
    if (view) {
      for (const update of this.#transcript.take(view, event)) this.#send(update);
      if (event) this.#showBeside(view, event);
      this.#showTitle(view);
      this.#showMode();
      this.#asks.update(asks);
    }
    for (const prompt of this.#prompts) {
      if (problem) prompt.fail(problem);
      else if (view) settleBy(view, prompt);
    }
  }

  /** What an event says beside the documents, where the editor can show it. */
  #showBeside({ responses }: ConversationView, event: ReadEvent): void {
    const { capabilities, choices } = this.#place;
    const { notices, compaction } = capabilities.session ?? {};
    switch (event.type) {
      case 'model_wait':
        if (notices) this.#say(waitSentence(event.wait, Date.now()));
        return;
      case 'context_summary': {
        if (!compaction) return;
        if (event.status === 'running') this.#counter += 1;
        const status = event.status === 'running' ? 'in_progress' : event.status;
        const compactionId = `${event.responseId}/summary-${this.#counter}`;
        return this.#send({ sessionUpdate: 'compaction_update', compactionId, status });
      }
      case 'done': {
        const model = responses.find(({ id }) => id === event.responseId)?.model;
        const size = choices.models.find(({ id }) => id === model)?.contextWindow;
        const used = event.metadata.contextTokens;
        if (size === undefined || used === undefined) return;
        return this.#send({ sessionUpdate: 'usage_update', used, size });
      }
      case 'message':
      case 'message_update':
      case 'steered':
      case 'document_start':
      case 'snapshot':
        return; // The transcript shows these, as it does every event of a document.
      case 'mode_update':
      case 'conversation_update':
        return; // Mode and title are shown whenever they differ.
      case 'attached':
      case 'response_start':
      case 'response_model':
      case 'budget_near':
      case 'heartbeat':
      case 'unknown':
        return; // An editor has no place for these.
      default:
        event satisfies { readonly documentId: string };
    }
  }

  /** Once for each message that the server cannot be sent. */
  #sayLost(): void {
    const [first] = this.#session.unsent;
    if (first?.why === undefined || first === this.#lost) return;
    this.#lost = first;
    this.#say(`The server cannot be reached (${inOneLine(first.why)}); trying again.`);
  }

  #showTitle({ title }: ConversationView): void {
    if (title === this.#title) return;
    this.#title = title;
    this.#send({ sessionUpdate: 'session_info_update', title: inOneLine(title) });
  }

  #showMode(): void {
    const { mode } = this.#place.chat;
    if (mode === this.#mode) return;
    this.#mode = mode;
    const { configOptions } = this.settings;
    this.#send({ sessionUpdate: 'current_mode_update', currentModeId: mode });
    this.#send({ sessionUpdate: 'config_option_update', configOptions });
  }

  #say(words: string): void {
    if (this.#place.capabilities.session?.notices) {
      return this.#send({ sessionUpdate: 'notice', severity: 'info', title: words });
    }
    const messageId = `said-${++this.#counter}`;
    const content = {
      type: 'text' as const,
      text: `${words}
`,
    };
    this.#send({ sessionUpdate: 'agent_message_chunk', messageId, content });
  }

  #send(update: SessionUpdate): void {
    const { editor, id } = this.#place;
    // The connection's end is the end of the session, too.
    editor.notify('session/update', { sessionId: id, update }).catch(() => {});
  }
}

const COMMANDS: AvailableCommand[] = [
  { name: 'undo', description: "Take back the agent's newest changes of files, after a preview" },
  { name: 'redo', description: 'Take back the newest undo, after a preview' },
  { name: 'execute', description: 'Carry out the newest plan' },
];

function commandOf({ name, description, takes }: Skill): AvailableCommand {
  const input = takes === undefined ? null : { hint: inOneLine(takes) };
  return { name, description: inOneLine(description), input };
}

function settleBy({ responses, messages }: ConversationView, prompt: OpenPrompt): void {
  const { responseId, isCancelled } = prompt;
  if (responseId === undefined) return;
  const response = responses.find(({ id }) => id === responseId);
  const message = messages.find((each) => each.responseId === responseId && !each.steers);
  if (response && isOver(response.status)) {
    const end = isCancelled ? 'cancelled' : endOf(response);
    if (typeof end === 'string') prompt.settle(end);
    else prompt.fail(end);
  } else if (message?.cancelled) {
    prompt.settle('cancelled');
  } else if (!response && !message && isBefore(responseId, responses[0])) {
    prompt.settle('end_turn');
  }
}

/** Whether the response is older than what a snapshot has shown: many answers came while the connection was lost. */
function isBefore(responseId: string, first: ChatResponse | undefined): boolean {
  return (
    first !== undefined && parseResponseId(responseId).ordinal < parseResponseId(first.id).ordinal
  );
}

/** Of a response that is over: why it stopped, or what has failed. */
function endOf({ status, documents }: ChatResponse): StopReason | ClientError {
  if (status === 'completed') return 'end_turn';
  if (status === 'cancelled') return 'cancelled';
  const error = documents.findLast(({ type }) => type === 'error');
  const code = String(error?.metadata['errorCode'] ?? 'INTERNAL');
  const details = error?.content || error?.metadata['details'];
  return CUT_SHORT[code] ?? new ClientError(code, String(details ?? 'The answer failed.'));
}

/** Errors after which the text so far counts as an answer. */
const CUT_SHORT: Readonly<Record<string, StopReason>> = {
  ANSWER_TRUNCATED: 'max_tokens',
  TURN_LIMIT: 'max_turn_requests',
  BUDGET_EXCEEDED: 'max_turn_requests',
  CONTENT_FILTERED: 'refusal',
};

function report(error: unknown): void {
  if (error instanceof ClientError) complain(describeFailure(error));
}
