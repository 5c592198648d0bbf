/** The Agent Client Protocol on stdin and stdout. Only this file uses its library at run time. */
import { Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  type AuthenticateResponse,
  type AuthMethod,
  agent,
  type ClientCapabilities,
  type InitializeRequest,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type NewSessionRequest,
  type NewSessionResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type ResumeSessionRequest,
  type ResumeSessionResponse,
  type SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk';
import { ClientError } from '../../client/index.ts';
import { OWN_VERSION } from '../../local/own-root.ts';
import type { Programs } from '../../local/server/worker.ts';
import { LocalError } from '../../machine/local-error.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { conversationIdOf } from '../../shared/wire/derived-id.ts';
import {
  type DoorOptions,
  openAccount,
  openPlace,
  type PlaceSurroundings,
  type ServedPlace,
} from '../server/place.ts';
import { findTarget, NotSignedIn } from '../target/target.ts';
import { parseConversationId } from '../target/typed-ids.ts';
import { complain, describeError, describeFailure } from '../terminal/failure-text.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { toMessage } from './content.ts';
import { findMissing } from './mcp-servers.ts';
import { EditorSession } from './session.ts';
import { readChoices } from './settings.ts';

/** Serves until the editor closes stdin. Answers that run then go on at the server. */
export async function serveAcp(options: DoorOptions, programs: Programs): Promise<void> {
  const terminal = openTerminal(process, process.env, { machine: true });
  const door = new EditorDoor({ options, programs, terminal });
  const output = Writable.toWeb(process.stdout);
  const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
  const connection = appOf(door).connect(ndJsonStream(output, input));
  await connection.closed;
  door[Symbol.dispose]();
}

function appOf(door: EditorDoor) {
  return agent({ name: 'drawbridge' })
    .onRequest('initialize', ({ params }) => door.initialize(params))
    .onRequest('authenticate', () => answer(() => door.authenticate()))
    .onRequest('session/new', ({ params, client }) => answer(() => door.begin(params, client)))
    .onRequest('session/load', ({ params, client }) =>
      answer(() => door.load(params, client, 'replay')),
    )
    .onRequest('session/resume', ({ params, client }) =>
      answer(() => door.load(params, client, 'resume')),
    )
    .onRequest('session/list', ({ params }) => answer(() => door.list(params)))
    .onRequest('session/close', ({ params }) => answer(() => door.close(params.sessionId)))
    .onRequest('session/delete', ({ params }) => answer(() => door.delete(params.sessionId)))
    .onRequest('session/prompt', ({ params, signal }) => answer(() => door.prompt(params, signal)))
    .onRequest('session/set_mode', ({ params: { sessionId, modeId } }) =>
      answer(() => door.choose(sessionId, 'mode', modeId)),
    )
    .onRequest('session/set_config_option', ({ params: { sessionId, configId, value } }) =>
      answer(() => door.choose(sessionId, configId, value)),
    )
    .onNotification('session/cancel', ({ params }) => door.cancel(params.sessionId));
}

/** What goes wrong in a way that a person can do something about is the answer's error. */
async function answer<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw requestErrorOf(error);
  }
}

function requestErrorOf(error: unknown): unknown {
  if (error instanceof NotSignedIn) return new RequestError(AUTH_REQUIRED, error.message);
  if (error instanceof UsageError) return new RequestError(INVALID_PARAMS, error.message);
  if (error instanceof LocalError) return new RequestError(INTERNAL, error.message);
  if (!(error instanceof ClientError)) {
    if (!(error instanceof RequestError)) complain(describeFailure(error));
    return error;
  }
  const { code, status } = error;
  const number = status === 401 ? AUTH_REQUIRED : status === 404 ? NOT_FOUND : INTERNAL;
  return new RequestError(number, describeError(error), { code });
}

const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const AUTH_REQUIRED = -32000;
const NOT_FOUND = -32002;

/** Aborted when the editor cancels the request, and not when it leaves: then the answer goes on. */
function cancelOf(signal: AbortSignal): AbortSignal {
  const cancelled = new AbortController();
  const pass = () => {
    if (signal.reason instanceof RequestError) cancelled.abort();
  };
  signal.addEventListener('abort', pass, { once: true });
  return cancelled.signal;
}

interface OpenSession {
  readonly session: EditorSession;
  readonly place: ServedPlace;
}

const NO_SIGN_IN = {
  id: 'local',
  name: 'This machine',
  description: 'The server of this machine, which needs no sign-in',
};

/** All sessions of one editor. */
class EditorDoor implements Disposable {
  readonly #surroundings: PlaceSurroundings;
  readonly #sessions = new Map<string, OpenSession>();
  #capabilities: ClientCapabilities = {};

  constructor(surroundings: PlaceSurroundings) {
    this.#surroundings = surroundings;
  }

  initialize({ clientCapabilities = {} }: InitializeRequest): InitializeResponse {
    this.#capabilities = clientCapabilities;
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'drawbridge', title: 'Drawbridge', version: OWN_VERSION },
      authMethods: this.#authMethods(),
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      },
    };
  }

  /** The registry of the protocol lists no agent without a method. */
  #authMethods(): AuthMethod[] {
    const { url } = this.#surroundings.options;
    if (url === undefined) return [NO_SIGN_IN];
    const login = { id: 'login', name: 'Sign in', description: `Sign this machine in at ${url}` };
    const canLogIn = this.#capabilities.auth?.terminal === true;
    return canLogIn ? [{ ...login, type: 'terminal', args: ['--login'] }] : [];
  }

  /** Fails where a person has to sign this machine in, which takes a terminal. */
  async authenticate(): Promise<AuthenticateResponse> {
    const { options } = this.#surroundings;
    if (options.url !== undefined) await findTarget(options);
    return {};
  }

  async begin(
    { cwd, mcpServers }: NewSessionRequest,
    editor: AgentContext,
  ): Promise<NewSessionResponse> {
    const opened = await openPlace(this.#surroundings, cwd);
    const { chat } = opened;
    const firstKey = `acp-${crypto.randomUUID()}`;
    const { account } = await chat.client.getMe();
    const sessionId = await conversationIdOf(account, firstKey);
    const place = { ...opened, chat: { ...chat, firstKey } };
    const session = await this.#open(sessionId, place, editor);
    const missing = await findMissing(mcpServers, chat.own);
    setImmediate(() => session.introduce(missing));
    return { sessionId, ...session.settings };
  }

  async load(
    { sessionId, cwd, mcpServers = [] }: ResumeSessionRequest,
    editor: AgentContext,
    how: 'replay' | 'resume',
  ): Promise<ResumeSessionResponse> {
    const place = await openPlace(this.#surroundings, cwd, sessionId);
    const session = await this.#open(sessionId, place, editor);
    await session.load(how).catch((error) => {
      this.#leave(sessionId);
      throw error;
    });
    const missing = await findMissing(mcpServers, place.chat.own);
    setImmediate(() => session.introduce(missing));
    return session.settings;
  }

  /** Conversations whose folder is known: an editor opens no other. */
  async list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const account = await openAccount(this.#surroundings, cwd ?? undefined);
    if (!account) return { sessions: [] };
    const { client, bridgeId } = account;
    const query = { ...(bridgeId && { bridgeId }), ...(cursor && { cursor }) };
    const [{ items, nextCursor }, bridges] = await Promise.all([
      client.listConversations(query),
      client.listBridges(),
    ]);
    const folders = new Map(bridges.items.map(({ id, workspacePath }) => [id, workspacePath]));
    const sessions = items.flatMap(({ id, title, updated, bridgeId: at }) => {
      const folder = folders.get(at ?? '');
      if (folder === undefined) return [];
      return [{ sessionId: id, cwd: folder, title: inOneLine(title), updatedAt: updated }];
    });
    return { sessions, nextCursor };
  }

  async prompt({ sessionId, prompt }: PromptRequest, signal: AbortSignal): Promise<PromptResponse> {
    const { session, place } = this.#require(sessionId);
    const message = await toMessage(prompt, place.folder);
    return { stopReason: await session.prompt(message, cancelOf(signal)) };
  }

  choose(sessionId: string, name: string, value: unknown): SetSessionConfigOptionResponse {
    const { session } = this.#require(sessionId);
    session.choose(name, value);
    return { configOptions: session.settings.configOptions };
  }

  cancel(sessionId: string): void {
    this.#sessions.get(sessionId)?.session.cancel();
  }

  /** As the protocol has it: what the editor has asked for in the session is cancelled. */
  close(sessionId: string): void {
    this.#require(sessionId).session.cancelPrompts();
    this.#leave(sessionId);
  }

  async delete(sessionId: string): Promise<void> {
    const id = parseConversationId(sessionId);
    const open = this.#sessions.get(id);
    const account = open?.place.chat ?? (await openAccount(this.#surroundings));
    this.#leave(id);
    await account?.client.deleteConversation(id);
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#sessions.keys()]) this.#leave(id);
  }

  /** Shows nothing of the session any more. Its answers go on. */
  #leave(sessionId: string): void {
    this.#sessions.get(sessionId)?.session[Symbol.dispose]();
    this.#sessions.delete(sessionId);
  }

  async #open(id: string, place: ServedPlace, editor: AgentContext): Promise<EditorSession> {
    const { chat } = place;
    const bridgeId = chat.bridgeId ?? chat.own?.bridgeId;
    const choices = await readChoices(chat.client, bridgeId);
    this.#leave(id);
    const capabilities = this.#capabilities;
    const session = new EditorSession({ ...place, id, editor, capabilities, choices });
    this.#sessions.set(id, { session, place });
    return session;
  }

  #require(sessionId: string): OpenSession {
    const open = this.#sessions.get(sessionId);
    if (open) return open;
    throw RequestError.sessionNotFound(sessionId);
  }
}
