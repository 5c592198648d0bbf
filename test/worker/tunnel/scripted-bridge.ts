/** A bridge whose every frame the test decides, over a real WebSocket to the real route. */
import { SELF } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect } from 'vitest';
import { newBridgeId } from '../../../shared/ids.ts';
import { toolsRunBy } from '../../../shared/tools/catalogue.ts';
import type { Proposal } from '../../../shared/wire/approvals.ts';
import type { EnrolmentOutcome, EnrolmentRequest } from '../../../shared/wire/enrolment.ts';
import type { FileQuery, FoundFile } from '../../../shared/wire/files.ts';
import type { Findings, MessageLook } from '../../../shared/wire/findings.ts';
import type { OfferSet } from '../../../shared/wire/offer.ts';
import type { MachinePolicy } from '../../../shared/wire/policy.ts';
import type { ProcessInfo } from '../../../shared/wire/processes.ts';
import { helloSubject, makeProof, type ProofSigner } from '../../../shared/wire/proof.ts';
import {
  type BridgeFrame,
  CHALLENGE_HEADER,
  type MachineContext,
  type ToolCall,
  type ToolResult,
  TUNNEL_PROTOCOL,
  TunnelFrame,
} from '../../../shared/wire/tunnel.ts';
import type { Tunnel } from '../../../worker/tunnel/object.ts';
import { standsAt, tokenFor } from '../api.ts';

export interface BridgeOptions {
  readonly account?: string;
  readonly bridgeId?: string;
  /** Canonical names; all by default. */
  readonly tools?: readonly string[];
  /** How long its token is valid; an hour by default. */
  readonly expires?: string;
  /** Another token than one of the account's. */
  readonly token?: string;
}

/** The signature that the scripted bridge refuses. */
export const WRONG_SIGNATURE = 'd3Jvbmc';

/** Of the one question that most tests ask. */
export const NONCE = 'the-first-question';

export const PROPOSAL = {
  kind: 'command',
  tool: 'run_terminal_cmd',
  command: 'make',
  folder: '.',
  permissions: [],
  background: false,
  timeLimitMs: 120_000,
  confinement: 'bubblewrap',
} satisfies Proposal;

const CONTEXT: MachineContext = {
  os: 'TestOS',
  shell: 'sh',
  workspacePath: '/work',
  projectLayout: 'a.ts',
};

/** That of a machine without any file of its owner. */
export const NO_POLICY: MachinePolicy = {
  preset: 'workspace',
  rules: [],
  ruleCount: 0,
  grants: [],
  problems: [],
};

/** What the token and the answer to the upgrade say. */
export interface Challenge {
  readonly bridgeId: string;
  readonly token: string;
  readonly challenge: string;
}

/** The proof of a hello, as a bridge's machine makes it. */
export async function proofFor(
  signer: ProofSigner,
  { bridgeId, token, challenge }: Challenge,
  { server = 'drawbridge.test', nowMs = Date.now() } = {},
): Promise<string> {
  const subject = await helloSubject(bridgeId, token, challenge);
  return await makeProof(signer, { subject, nowMs, server });
}

type FrameOf<Type extends TunnelFrame['type']> = Extract<TunnelFrame, { type: Type }>;

export class ScriptedBridge {
  readonly bridgeId: string;
  /** What the proof of its hello must be for. */
  challenge: Challenge = { bridgeId: '', token: '', challenge: '' };
  /** Every frame so far that was not taken by {@link next}. */
  readonly frames: TunnelFrame[] = [];
  readonly closed: Promise<number>;
  /** What it answers to each look, at first the context of its hello; null for a bridge that does not answer. */
  sees: MachineContext | null = null;
  /** What it answers beside that about a look's message. */
  finds: Findings | undefined;
  /** What runs there in the background. */
  processes: readonly ProcessInfo[] = [];
  /** What it answers to devices that want to be enrolled. */
  enrols: EnrolmentOutcome = 'enrolled';
  /** What they sent. */
  readonly enrolments: EnrolmentRequest[] = [];
  /** What it finds by every text; null where it cannot list its files. */
  files: readonly FoundFile[] | null = [];
  /** What people searched for there. */
  readonly searches: FileQuery[] = [];
  /** What its owner's files allow; null for a bridge that does not answer. */
  policy: unknown = NO_POLICY;
  /** The messages of the looks that it answered. */
  readonly asked: (MessageLook | undefined)[] = [];
  readonly #socket: WebSocket;
  readonly #tools: readonly string[];
  #heard = Promise.withResolvers<void>();

  constructor(socket: WebSocket, bridgeId: string, tools: readonly string[]) {
    this.bridgeId = bridgeId;
    this.#socket = socket;
    this.#tools = tools;
    socket.addEventListener('message', ({ data }) => {
      if (data === 'pong') return;
      const frame = TunnelFrame.parse(JSON.parse(String(data)));
      if (frame.type === 'look' && this.sees) {
        const { lookId, message } = frame;
        this.asked.push(message);
        const findings = this.finds && { findings: this.finds };
        return this.send({ type: 'context', lookId, context: this.sees, ...findings });
      }
      if (frame.type === 'processes') {
        const { askId, stop, port: asked } = frame;
        const isWrong = asked?.grant?.signature.value === WRONG_SIGNATURE;
        const items = this.processes.map((process) => {
          if (process.id === stop) return { ...process, running: false };
          if (process.id !== asked?.processId || !asked.grant || isWrong) return process;
          return { ...process, ports: [{ port: asked.port, address: 'http://127.0.0.1:4711' }] };
        });
        const refused = isWrong && { refused: 'No device has signed it.' };
        return this.send({ type: 'processes', askId, items, ...refused });
      }
      if (frame.type === 'enrol') {
        const { askId, device, mac } = frame;
        this.enrolments.push({ device, mac });
        return this.send({ type: 'enrolled', askId, outcome: this.enrols });
      }
      if (frame.type === 'files') {
        const { askId, query, limit } = frame;
        this.searches.push({ query, limit });
        return this.send({ type: 'files', askId, items: this.files });
      }
      if (frame.type === 'policy' && this.policy !== null) {
        return this.send({ type: 'policy', askId: frame.askId, policy: this.policy });
      }
      this.frames.push(frame);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code }) => resolve(code));
      socket.addEventListener('error', () => resolve(1006));
    });
    socket.accept();
  }

  /** The next frame of this type; earlier ones of other types stay where they are. */
  async next<Type extends TunnelFrame['type']>(type: Type): Promise<FrameOf<Type>> {
    for (;;) {
      const index = this.frames.findIndex((frame) => frame.type === type);
      if (index >= 0) return this.frames.splice(index, 1)[0] as FrameOf<Type>;
      await this.#heard.promise;
    }
  }

  async nextCall(): Promise<ToolCall> {
    return (await this.next('call')).call;
  }

  send(frame: BridgeFrame | Record<string, unknown> | string): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  hello(more: Record<string, unknown> = {}): void {
    this.sees = (more['context'] as MachineContext | undefined) ?? CONTEXT;
    this.send({
      type: 'hello',
      protocol: TUNNEL_PROTOCOL,
      bridgeId: this.bridgeId,
      bootId: crypto.randomUUID(),
      tools: this.#tools,
      confinement: { kind: 'none', detail: 'scripted' },
      context: this.sees,
      calls: [],
      ...more,
    });
  }

  /** Says hello, and returns the answer. */
  async greet(more: Record<string, unknown> = {}): Promise<FrameOf<'welcome'>> {
    this.hello(more);
    return await this.next('welcome');
  }

  /** Asks a person about a call; the same nonce again is the same question. */
  ask(callId: string, more: { nonce?: string; reason?: string; proposal?: Proposal } = {}): void {
    const asked = { nonce: NONCE, proposal: PROPOSAL, reason: 'It runs a command.', ...more };
    this.send({ type: 'approval_request', callId, ...asked });
  }

  resolve(
    callId: string,
    more: { nonce?: string; decision?: 'once' | 'reject' | 'superseded'; by?: string } = {},
  ): void {
    const resolved = { nonce: NONCE, decision: 'once', by: 'device', ...more };
    this.send({ type: 'approval_resolved', callId, ...resolved });
  }

  succeed(callId: string, data: string, metadata?: Record<string, unknown>): void {
    this.finish(callId, { status: 'success', data, ...(metadata && { metadata }) });
  }

  finish(callId: string, result: ToolResult): void {
    this.send({ type: 'result', callId, result });
  }

  async leave(): Promise<void> {
    this.#socket.close(1000, 'leaving');
    await this.closed;
  }

  #wake(): void {
    this.#heard.resolve();
    this.#heard = Promise.withResolvers<void>();
  }
}

/** Opens the socket; no frame is sent yet. */
export async function openBridge(options: BridgeOptions = {}): Promise<ScriptedBridge> {
  const { bridgeId = newBridgeId(crypto.randomUUID()) } = options;
  const { account = 'ada', expires = '1h' } = options;
  const claims = { scope: 'bridge', bridge: bridgeId };
  const token = options.token ?? (await tokenFor({ account, claims, expires }));
  const response = await requestBridge({ ...options, bridgeId, token });
  if (!response.webSocket) throw new Error(`refused: ${response.status} ${await response.text()}`);
  const tools = options.tools ?? toolsRunBy('bridge').map(({ name }) => name);
  const bridge = new ScriptedBridge(response.webSocket, bridgeId, tools);
  const challenge = response.headers.get(CHALLENGE_HEADER) ?? '';
  bridge.challenge = { bridgeId, token, challenge };
  return bridge;
}

/** A bridge that was welcomed. */
export async function connectBridge(options: BridgeOptions = {}): Promise<ScriptedBridge> {
  const bridge = await openBridge(options);
  await bridge.greet();
  standsAt.set(options.account ?? 'ada', bridge.bridgeId);
  return bridge;
}

/** A bridge that can look, and sees these files at first. */
export async function connectLookingBridge(projectLayout = 'a.ts'): Promise<ScriptedBridge> {
  const bridge = await openBridge();
  await bridge.greet({ context: contextOf(projectLayout) });
  standsAt.set('ada', bridge.bridgeId);
  return bridge;
}

export function contextOf(projectLayout: string, gitStatus = '## main\n'): MachineContext {
  return { os: 'TestOS', shell: 'sh', workspacePath: '/work', projectLayout, gitStatus };
}

export async function requestBridge({
  account = 'ada',
  bridgeId = '',
  expires = '1h',
  token: given,
}: BridgeOptions): Promise<Response> {
  const claims = { scope: 'bridge', bridge: bridgeId };
  const token = given ?? (await tokenFor({ account, claims, expires }));
  return await SELF.fetch(`https://drawbridge.test/api/v1/bridges/${bridgeId}/connect`, {
    headers: { authorization: `Bearer ${token}`, upgrade: 'websocket' },
  });
}

export function tunnelOf(bridgeId: string): DurableObjectStub<Tunnel> {
  return env.TUNNELS.get(env.TUNNELS.idFromName(bridgeId));
}

/** A bridge that has sent its set on request. */
export async function connectOffering(set: OfferSet, bridgeId?: string): Promise<ScriptedBridge> {
  const bridge = await openBridge(bridgeId === undefined ? {} : { bridgeId });
  await bridge.greet({ offers: set.digest });
  standsAt.set('ada', bridge.bridgeId);
  expect(await bridge.next('offers_wanted')).toEqual({ type: 'offers_wanted', digest: set.digest });
  await sendSet(bridge, set);
  return bridge;
}

/** Returns when the tunnel has taken it: it answers what comes after it. */
export async function sendSet(bridge: ScriptedBridge, set: OfferSet | null): Promise<void> {
  bridge.send({ type: 'offers', set });
  const callId = `call_${crypto.randomUUID()}`;
  bridge.send({ type: 'held_calls', calls: [callId] });
  while ((await bridge.next('ack')).callId !== callId);
}
