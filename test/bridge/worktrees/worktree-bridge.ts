/** A real bridge on a real repository, with the test at the edge's end of its tunnel. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { runBridge } from '../../../bridge/run.ts';
import { WorktreeStore } from '../../../bridge/worktrees/store.ts';
import { OWNER } from '../../../packages/sandbox/test/sandboxed-workspace.ts';
import { newCallId, newConversationId } from '../../../shared/ids.ts';
import { ClosedWorktree, OpenedWorktree } from '../../../shared/tools/worktree.ts';
import type {
  BridgeFrame,
  ToolCall,
  ToolResult,
  TunnelFrame,
} from '../../../shared/wire/tunnel.ts';
import { ScriptedTunnel, type TunnelConnection } from '../tunnel/scripted-tunnel.ts';

const BRIDGE_ID = 'bridge_00000000-0000-4000-8000-000000000001';

/** Runs git as the person does, and gives what it printed. */
export async function personsGit(cwd: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, HOME: dirname(cwd), GIT_CONFIG_NOSYSTEM: '1' };
  const { stdout } = await promisify(execFile)('git', [...args], { cwd, env, ...OWNER });
  return stdout;
}

export interface Place {
  /** Holds `repo` and `state`, and whatever else a test puts there. */
  readonly folder: string;
  readonly root: string;
  readonly stateDir: string;
  readonly path: (name: string) => string;
  readonly put: (name: string, text: string) => Promise<void>;
  readonly text: (name: string) => Promise<string | undefined>;
  readonly git: (...args: readonly string[]) => Promise<string>;
}

/** A repository `repo` with these files in its first commit, and the state of its bridge. */
export async function repositoryWith(files: Readonly<Record<string, string>>): Promise<Place> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'drawbridge-worktree-')));
  const [root, stateDir] = [join(folder, 'repo'), join(folder, 'state')];
  const path = (name: string) => join(root, name);
  const give = async (name: string) => {
    const { uid, gid } = OWNER;
    if (uid !== undefined && gid !== undefined) await chown(name, uid, gid);
  };
  const put = async (name: string, text: string) => {
    await promisify(execFile)('mkdir', ['-p', dirname(path(name))], OWNER);
    await writeFile(path(name), text);
    await give(path(name));
  };
  await mkdir(root);
  await mkdir(stateDir, { mode: 0o700 });
  await give(folder);
  await give(root);
  onTestFinished(async () => {
    const store = new WorktreeStore(stateDir);
    for (const { conversationId } of store.list()) await store.remove(conversationId);
    await rm(folder, { recursive: true, force: true });
    await rm(store.folder, { recursive: true, force: true });
  });
  const git = (...args: readonly string[]) => personsGit(root, ...args);
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'Ada');
  await git('config', 'user.email', 'ada@example.com');
  for (const [name, text] of Object.entries(files)) await put(name, text);
  await git('add', '-A');
  await git('commit', '--quiet', '--allow-empty', '-m', 'first');
  const text = (name: string) => readFile(path(name), 'utf8').catch(() => undefined);
  return { folder, root, stateDir, path, put, text, git };
}

/** The owner's file in the state folder. */
export async function putState({ stateDir }: Place, name: string, value: unknown): Promise<void> {
  await writeFile(join(stateDir, name), JSON.stringify(value), { mode: 0o600 });
}

export const newConversation = () => newConversationId(randomUUID());

/** A call as the edge sends it. */
export function callOf(
  conversationId: string,
  tool: string,
  args: Record<string, unknown> = {},
): ToolCall {
  const callId = newCallId(randomUUID());
  return { callId, conversationId, tool, arguments: args, mode: 'agent', worktree: true };
}

type Look = Extract<TunnelFrame, { type: 'look' }>;
type Listed = Extract<BridgeFrame, { type: 'processes' }>;
type Seen = Extract<BridgeFrame, { type: 'context' }>;

export class WorktreeBridge {
  readonly connection: TunnelConnection;
  readonly #results = new Map<string, (result: ToolResult) => void>();
  readonly #asked = new Map<string, (listed: Listed) => void>();
  readonly #looks = new Map<string, (seen: Seen) => void>();
  readonly #outputs = new Map<string, string>();
  #heard = Promise.withResolvers<void>();

  constructor(connection: TunnelConnection) {
    this.connection = connection;
    void this.#listen();
  }

  /** The result of the call, sent now. */
  async call(call: ToolCall): Promise<ToolResult> {
    const { promise, resolve } = Promise.withResolvers<ToolResult>();
    this.#results.set(call.callId, resolve);
    this.connection.send({ type: 'call', call });
    return await promise;
  }

  /** What the bridge answers to a look. */
  async look(asked: Omit<Look, 'type' | 'lookId'>): Promise<Seen> {
    const lookId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Seen>();
    this.#looks.set(lookId, resolve);
    this.connection.send({ type: 'look', lookId, ...asked });
    return await promise;
  }

  /** What the bridge says that it runs in the background. */
  async processes(): Promise<Listed['items']> {
    const askId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Listed>();
    this.#asked.set(askId, resolve);
    this.connection.send({ type: 'processes', askId });
    return (await promise).items;
  }

  async open(conversationId: string, args: Record<string, unknown> = {}): Promise<OpenedWorktree> {
    const result = await this.call(callOf(conversationId, 'open_worktree', args));
    if (result.status === 'error') throw new Error(`${result.code}: ${result.data}`);
    return OpenedWorktree.parse(result.metadata);
  }

  async close(conversationId: string, args: Record<string, unknown>): Promise<ClosedWorktree> {
    const result = await this.call(callOf(conversationId, 'close_worktree', args));
    if (result.status === 'error') throw new Error(`${result.code}: ${result.data}`);
    return ClosedWorktree.parse(result.metadata);
  }

  /** What a command printed, with its exit code before it. */
  async run(conversationId: string, command: string): Promise<string> {
    const result = await this.call(callOf(conversationId, 'run_terminal_cmd', { command }));
    return result.data;
  }

  /** Resolves when the running call has printed this. */
  async untilOutput(callId: string, text: string): Promise<void> {
    while (!this.#outputs.get(callId)?.includes(text)) await this.#heard.promise;
  }

  async #listen(): Promise<void> {
    for (;;) {
      const frame = await this.connection.nextFrame();
      if (frame.type === 'result') this.#results.get(frame.callId)?.(frame.result);
      if (frame.type === 'processes') this.#asked.get(frame.askId)?.(frame);
      if (frame.type === 'context') this.#looks.get(frame.lookId ?? '')?.(frame);
      if (frame.type !== 'output') continue;
      this.#outputs.set(frame.callId, (this.#outputs.get(frame.callId) ?? '') + frame.delta);
      this.#heard.resolve();
      this.#heard = Promise.withResolvers<void>();
    }
  }
}

/** The bridge of the place in this process, which stops with the test. */
export async function startBridge({
  root,
  stateDir,
}: Place): Promise<{ bridge: WorktreeBridge; tools: readonly string[]; end: () => Promise<void> }> {
  const tunnel = await ScriptedTunnel.open();
  const ending = new AbortController();
  const config = {
    url: tunnel.url,
    token: 'secret',
    bridgeId: BRIDGE_ID,
    onStatus: () => {},
    environment: process.env,
    asksAtTerminal: false,
  };
  const ended = runBridge({ ...config, workspaceDir: root, stateDir }, ending.signal);
  const end = async () => {
    ending.abort();
    await ended;
    await tunnel[Symbol.asyncDispose]();
  };
  onTestFinished(end);
  const connection = await tunnel.connection();
  const { tools } = await connection.welcome();
  return { bridge: new WorktreeBridge(connection), tools, end };
}

/** A bridge on a new repository with these files, and a conversation for a worktree of it. */
export async function startIn(files: Readonly<Record<string, string>>) {
  const place = await repositoryWith(files);
  return { place, ...(await startBridge(place)), id: newConversation() };
}
