/** An editor: the client side of the Agent Client Protocol, with `drawbridge acp` as its child. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import {
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  methods,
  ndJsonStream,
  type PromptRequest,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { onTestFinished } from 'vitest';
import { type House, PROGRAM } from './house.ts';

/** What the person at the editor does with a question. */
type Decide = (
  request: RequestPermissionRequest,
  signal: AbortSignal,
) => RequestPermissionResponse | Promise<RequestPermissionResponse>;

export interface Editor {
  readonly agent: ClientContext;
  readonly child: ChildProcess;
  readonly hello: InitializeResponse;
  /** All that the agent has asked for, in order. */
  readonly permissions: readonly RequestPermissionRequest[];
  /** All updates of a session, in order. */
  updates(sessionId: string): readonly SessionUpdate[];
  /** Those of one kind. */
  of<Kind extends SessionUpdate['sessionUpdate']>(
    sessionId: string,
    kind: Kind,
  ): Extract<SessionUpdate, { sessionUpdate: Kind }>[];
  /** The text of all chunks of one kind. */
  text(sessionId: string, kind?: 'agent_message_chunk' | 'user_message_chunk'): string;
  stderr(): string;
  /** Closes stdin, and resolves to the exit code. */
  leave(): Promise<number | null>;
}

export interface EditorOptions {
  readonly capabilities?: ClientCapabilities;
  readonly decide?: Decide;
  readonly fillForm?: (message: string) => CreateElicitationResponse;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Takes the option with this id in every question. */
export function choosing(optionId: string): Decide {
  return () => ({ outcome: { outcome: 'selected', optionId } });
}

/** Takes the first option: a yes. */
export const chooseFirst: Decide = ({ options: [first] }) => ({
  outcome: first ? { outcome: 'selected', optionId: first.optionId } : { outcome: 'cancelled' },
});

/** `drawbridge acp` as an editor starts it. It ends with the test. */
export function spawnAcp(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const [program, ...words] = PROGRAM;
  const child = spawn(program, [...words, 'acp', ...args], {
    cwd: '/',
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Starts it for a house, or for the server of the environment, and says hello. */
export async function openEditor(
  house: Pick<House, 'state'> | null,
  options: EditorOptions = {},
): Promise<Editor> {
  const { capabilities = {}, decide = choosing('once'), fillForm, args = [], env } = options;
  const child = spawnAcp([...(house ? ['--state', house.state] : []), ...args], env);
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error('no pipes');
  let said = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const updates: { sessionId: string; update: SessionUpdate }[] = [];
  const permissions: RequestPermissionRequest[] = [];
  const app = client({ name: 'test-editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params))
    .onRequest('session/request_permission', ({ params, signal }) => {
      permissions.push(params);
      return decide(params, signal);
    })
    .onRequest('elicitation/create', ({ params }) => {
      return fillForm?.(params.message) ?? { action: 'cancel' };
    });
  const input = Readable.toWeb(stdout) as ReadableStream<Uint8Array>;
  const { agent } = app.connect(ndJsonStream(Writable.toWeb(stdin), input));
  const hello = await agent.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: capabilities,
  });
  const of: Editor['of'] = (sessionId, kind) =>
    updates
      .filter((each) => each.sessionId === sessionId)
      .flatMap(({ update }) => (isOf(update, kind) ? [update] : []));
  return {
    agent,
    child,
    hello,
    permissions,
    of,
    updates: (sessionId) =>
      updates.filter((each) => each.sessionId === sessionId).map(({ update }) => update),
    text: (sessionId, kind = 'agent_message_chunk') =>
      of(sessionId, kind)
        .map(({ content }) => (content.type === 'text' ? content.text : `(${content.type})`))
        .join(''),
    stderr: () => said,
    leave: async () => {
      const exited = once(child, 'exit');
      stdin.end();
      const [code] = await exited;
      return code;
    },
  };
}

function isOf<Kind extends SessionUpdate['sessionUpdate']>(
  update: SessionUpdate,
  kind: Kind,
): update is Extract<SessionUpdate, { sessionUpdate: Kind }> {
  return update.sessionUpdate === kind;
}

/** A new session in the house's workspace. */
export async function newSession(
  { agent }: Editor,
  { workspace: cwd }: Pick<House, 'workspace'>,
): Promise<string> {
  const { sessionId } = await agent.request('session/new', { cwd, mcpServers: [] });
  return sessionId;
}

/** Sends words, and resolves to how the answer stopped. */
export async function prompt({ agent }: Editor, sessionId: string, text: string): Promise<string> {
  const sent: PromptRequest = { sessionId, prompt: [{ type: 'text', text }] };
  const { stopReason } = await agent.request(methods.agent.session.prompt, sent);
  return stopReason;
}
