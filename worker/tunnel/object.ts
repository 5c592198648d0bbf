/** The Durable Object of one bridge: holds its socket, and passes calls, results and answers on. */
import { DurableObject } from 'cloudflare:workers';
import type { BridgeDetails, McpServerInfo } from '../../shared/api/listings.ts';
import type { SessionKey } from '../../shared/api/sessions.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { RUN_LIMITS, TUNNEL_LIMITS } from '../../shared/limits.ts';
import { guestEdit } from '../../shared/tools/guest-edit.ts';
import { controlProcess } from '../../shared/tools/process.ts';
import { listDefinitions } from '../../shared/wire/definitions.ts';
import type { EnrolmentOutcome, EnrolmentRequest } from '../../shared/wire/enrolment.ts';
import type { FileQuery, FoundFile } from '../../shared/wire/files.ts';
import type { MessageLook } from '../../shared/wire/findings.ts';
import { nameFor } from '../../shared/wire/grants.ts';
import { type OfferSet, ownWordsOf } from '../../shared/wire/offer.ts';
import type { MachinePolicy } from '../../shared/wire/policy.ts';
import type { ProcessAsk, ProcessReport } from '../../shared/wire/processes.ts';
import { skillsOfWorkspace } from '../../shared/wire/skills.ts';
import { keyOfAccount } from '../../shared/wire/tokens.ts';
import {
  type ApprovalAnswer,
  type BridgeFrame,
  CHALLENGE_HEADER,
  CLOSE,
  failure,
  type GuestCall,
  type Hello,
  type MachineContext,
  type ToolCall,
  type ToolResult,
  TUNNEL_PROTOCOL,
  type TunnelFrame,
} from '../../shared/wire/tunnel.ts';
import type { Env } from '../env.ts';
import { logEvent } from '../health/log.ts';
import { connectedTunnels } from '../health/metrics.ts';
import { LevelReport } from '../level-report.ts';
import { accountOf, conversationOf } from '../objects.ts';
import { isOwnHost } from '../origin.ts';
import { type Outcome, toOutcome } from '../outcome.ts';
import { newKeyIn } from '../people/proof.ts';
import type { Belonging, Refused } from '../ports/account.ts';
import type {
  AnswerKey,
  AnswerState,
  BridgeLook,
  BridgeState,
  MachineSeen,
  TunnelPort,
} from '../ports/tunnel.ts';
import { inTime } from '../reach.ts';
import { restoredFor, wasTakenBack } from '../storage/restored.ts';
import { type Answered, Asks, isForOthers } from './asks.ts';
import { parseConnectUrl } from './connect-url.ts';
import { countFitting, fitsRow, mismatch, parseFrame } from './frames.ts';
import {
  attachmentOf,
  BridgeSocket,
  refuse,
  refuseAs,
  type SocketAttachment,
  sendFrame,
} from './socket.ts';
import { type Bridge, type OpenCall, TunnelStore } from './statements.ts';

/** A frame about a call that the bridge has. */
type CallFrame = Exclude<Extract<BridgeFrame, { callId: string }>, GuestCall>;

/** Sleeps between frames. Stores each call until its own conversation, never one of a frame, has the result. */
export class Tunnel extends DurableObject<Env> implements TunnelPort {
  #store: TunnelStore;
  readonly #socket: BridgeSocket;
  /** Calls that were settled or cancelled. A dispatch that arrives later must not run them. */
  readonly #over = new Set<string>();
  /** Calls that guests began and that have not come back yet, with the time of their frame: a flood counts at once. */
  readonly #begun = new Map<string, number>();
  /** The open private calls with their arguments, which are not stored. */
  readonly #private = new Map<string, ToolCall>();
  readonly #asks = new Asks();
  /** The checks of the sockets' proofs. */
  readonly #proving = new WeakMap<WebSocket, Promise<unknown>>();
  /** The accounts beside its own that list this bridge. */
  readonly #shared = new LevelReport<{ readonly guests: string }>(
    {
      present: () => ({ guests: this.#guests.join('\n') }),
      send: async () => {
        const { id = '' } = this.#store.readBridge() ?? {};
        const listing = this.#guests.map((name) => accountOf(this.env, name).bridgeShared(id));
        await Promise.all(listing.map((listed) => inTime<void>(listed)));
      },
    },
    {},
  );

  constructor(state: DurableObjectState, env: Env) {
    super(state, restoredFor(env, state));
    this.#store = new TunnelStore(state.storage.sql);
    this.#socket = new BridgeSocket(state);
  }

  describe(account: string): MachineSeen | null {
    const bridge = this.#of(account);
    if (!bridge) return null;
    const isConnected = this.#socket.current(Date.now()) !== null;
    const { tools, context, offers } = bridge;
    return { tools, context, isConnected, ...(offers !== undefined && { offers }) };
  }

  /** The bridge as the account may see it; null for an account that is neither its owner nor let in by its machine. */
  #of(account: string): Bridge | null {
    const bridge = this.#store.readBridge();
    if (!bridge || bridge.owner === account) return bridge;
    if (nameFor(account, bridge.grants ?? []) === undefined) return null;
    const { os, shell, workspacePath, definitions, skills } = bridge.context;
    const context = {
      os,
      shell,
      workspacePath,
      projectLayout: '',
      ...(definitions && { definitions }),
      ...(skills && { skills: skillsOfWorkspace(skills) }),
    };
    return { ...bridge, context, offers: undefined };
  }

  #isOwner(account: string): boolean {
    return this.#store.readBridge()?.owner === account;
  }

  /** The call, if it is the account's own. */
  #callOf(account: string, callId: string): OpenCall | null {
    const open = this.#of(account) && this.#store.readCall(callId);
    return open && this.#accountOf(open.call) === account ? open : null;
  }

  #accountOf({ grantee }: ToolCall): string | undefined {
    return grantee ?? this.#store.readBridge()?.owner;
  }

  offers(account: string, digest: string): OfferSet | null {
    return this.#isOwner(account) ? this.#store.readOffers(digest) : null;
  }

  async look(account: string, message?: MessageLook): Promise<BridgeLook | null> {
    const known = this.describe(account);
    const socket = this.#socket.current(Date.now());
    if (!known || !socket) return known && { known, rows: 0 };
    const { context, ...seen } = await this.#asks.look(socket, message, this.#granteeOf(account));
    const machine = this.describe(account);
    return machine && { known: { ...machine, ...(context && { context }) }, ...seen };
  }

  #granteeOf(account: string): string | undefined {
    return this.#isOwner(account) ? undefined : account;
  }

  status(account: string): BridgeState | null {
    const bridge = this.#of(account);
    if (!bridge) return null;
    const { id, tools, confinement, greetedMs, replacedMs, context } = bridge;
    const connected = this.#socket.current(Date.now()) !== null;
    const known = { id, connected, tools: [...tools], confinement };
    const { workspacePath } = context;
    const replaced = replacedMs && { replaced: new Date(replacedMs).toISOString() };
    if (this.#isOwner(account)) return { ...known, workspacePath, ...replaced };
    // The folders above it are the owner's.
    const name = workspacePath.slice(workspacePath.lastIndexOf('/') + 1);
    const lastConnected = new Date(greetedMs ?? 0).toISOString();
    return { ...known, workspacePath: name, lastConnected, shared: true };
  }

  details(account: string): Omit<BridgeDetails, 'lastConnected'> | null {
    const status = this.status(account);
    const context = this.#of(account)?.context;
    const definitions = listDefinitions(context?.definitions);
    const { skills = [] } = context?.skills ?? {};
    const mcpServers = this.#isOwner(account) ? this.#mcpServers() : [];
    return status && { ...status, mcpServers, definitions, skills };
  }

  #mcpServers(): McpServerInfo[] {
    const { offers: digest } = this.#store.readBridge() ?? {};
    const { offers = [] } = (digest && this.#store.readOffers(digest)) || {};
    return this.#store.readMcpServers().map((report) => {
      const own = offers.filter(({ origin }) => origin.server === report.name);
      const tools = own.map((offer) => {
        const { tool: name } = offer.origin;
        return { name, description: ownWordsOf(offer) };
      });
      return { ...report, tools };
    });
  }

  async processes(account: string, ask: ProcessAsk): Promise<ProcessReport | null> {
    if (!this.describe(account)?.tools.includes(controlProcess.name)) return null;
    return await this.#ask(account, 'processes', (askId) => ({ type: 'processes', askId, ...ask }));
  }

  async enrol(account: string, request: EnrolmentRequest): Promise<EnrolmentOutcome | null> {
    const answer = await this.#ask(account, 'enrolled', (askId) => ({
      type: 'enrol',
      askId,
      ...request,
    }));
    return answer?.outcome ?? null;
  }

  async findFiles(account: string, query: FileQuery): Promise<FoundFile[] | null> {
    const answer = await this.#ask(account, 'files', (askId) => ({
      type: 'files',
      askId,
      ...query,
    }));
    return answer?.items ?? null;
  }

  async policy(account: string): Promise<MachinePolicy | null> {
    const answer = await this.#ask(account, 'policy', (askId) => ({ type: 'policy', askId }));
    return answer?.policy ?? null;
  }

  /** Asks for the bridge's owner. Null for anyone else, where the bridge is offline or leaves, and without an answer in time. */
  async #ask<Type extends Answered['type']>(
    account: string,
    type: Type,
    frameOf: (askId: string) => TunnelFrame,
  ): Promise<Extract<Answered, { type: Type }> | null> {
    const socket = this.#socket.current(Date.now());
    if (!socket || !this.#isOwner(account)) return null;
    const answer = await this.#asks.ask(socket, frameOf);
    return answer?.type === type ? (answer as Extract<Answered, { type: Type }>) : null;
  }

  allowMove(account: string, key: SessionKey): boolean {
    const bridge = this.#store.readBridge();
    if (bridge?.owner !== account) return false;
    const mayMove = { key, untilMs: Date.now() + TUNNEL_LIMITS.moveMs };
    this.#store.saveBridge({ ...bridge, mayMove });
    return true;
  }

  async dispatch(account: string, calls: readonly ToolCall[], isPatient = false): Promise<number> {
    if (!this.#of(account)) {
      for (const call of calls) {
        await inTime<void>(conversationOf(this.env, call).settle(call.callId, UNGRANTED));
      }
      return 0;
    }
    const grantee = this.#granteeOf(account);
    const now = Date.now();
    const socket = this.#socket.current(now);
    let rows = 0;
    for (const [index, given] of calls.entries()) {
      const call = { ...given, grantee };
      this.#begun.delete(call.callId);
      if (this.#over.has(call.callId)) continue;
      if (call.isPrivate) this.#private.set(call.callId, call);
      // A millisecond apart, so that a welcome sends the calls in their order.
      const waiting = { atMs: now + index, delivered: socket !== null, isPatient };
      if (this.#store.insertCall(call, waiting)) rows += socket ? 2 : 3;
      sendFrame(socket, { type: 'call', call });
    }
    if (socket || isPatient) return rows;
    return rows + (await this.#wakeAt(now + calls.length + RUN_LIMITS.bridgeGraceMs));
  }

  cancel(account: string, callIds: readonly string[]): void {
    if (!this.#of(account)) return;
    const socket = this.#socket.inUse();
    for (const callId of callIds) {
      const open = this.#store.readCall(callId);
      if (open && this.#accountOf(open.call) !== account) continue;
      this.#markOver(callId);
      if (open?.delivered) this.#store.markCancelled(callId);
      else this.#store.deleteCall(callId);
      const isKnown = this.#begun.delete(callId) || open?.delivered;
      if (isKnown) sendFrame(socket, { type: 'cancel', callId });
    }
  }

  answer(account: string, answer: ApprovalAnswer): Promise<Outcome<number>> {
    return toOutcome(() => {
      const open = this.#callOf(account, answer.callId);
      if (!open) throw new DrawbridgeError('NOT_FOUND', 'There is no such call');
      if (!this.#store.insertAnswer(answer, open.call.isPrivate ?? false)) {
        throw new DrawbridgeError('ALREADY_ANSWERED', 'This call was answered already');
      }
      sendFrame(this.#socket.inUse(), { type: 'approval', answer });
      return 2;
    });
  }

  endSession(account: string, session: string | null, why: Refused): void {
    this.#socket.end(account, session, why);
  }

  async erase(account: string): Promise<boolean> {
    this.#socket.end(account, null, 'ACCOUNT_DELETED');
    if ((this.#store.readBridge()?.owner ?? account) !== account) return false;
    // A call that is not settled now is dispatched again by its conversation, and then refused.
    await Promise.allSettled(this.#store.readCalls().map((open) => this.#settle(open, UNGRANTED)));
    const erased = this.ctx.storage.deleteAll();
    this.#store = new TunnelStore(this.ctx.storage.sql);
    await erased;
    return true;
  }

  owner(): Belonging | null {
    const { id, owner: account } = this.#store.readBridge() ?? {};
    return id === undefined || account === undefined ? null : { id, account };
  }

  answerState(account: string, key: AnswerKey): AnswerState {
    const answer = this.#callOf(account, key.callId) && this.#store.readAnswerTo(key);
    if (!answer) return { state: 'over' };
    if (answer.refused !== null) return { state: 'refused', message: answer.refused };
    return { state: 'waiting', connected: this.#socket.current(Date.now()) !== null };
  }

  /** Accepts the bridge's WebSocket. The Worker has checked the token, and passes its claims in the URL. */
  override async fetch(request: Request): Promise<Response> {
    const connecting = parseConnectUrl(new URL(request.url));
    const bridge = this.#store.readBridge();
    if (bridge && bridge.owner !== connecting.account) return new Response(null, { status: 403 });
    const { 0: client, 1: server } = new WebSocketPair();
    this.#socket.accept(server, connecting, Date.now());
    await this.#wakeAt(connecting.expiresMs);
    const headers = { [CHALLENGE_HEADER]: connecting.challenge };
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    const frame = parseFrame(message);
    if (!frame) return refuse(socket, CLOSE.badFrame, 'BAD_FRAME', 'The frame was not understood.');
    if (frame.type === 'foreign_hello') {
      const { protocolMismatch } = CLOSE;
      return refuse(socket, protocolMismatch, 'PROTOCOL_MISMATCH', mismatch(frame.protocol));
    }
    if (frame.type === 'hello') return await this.#hello(socket, frame);
    await this.#proving.get(socket);
    if (attachmentOf(socket).state === 'opened') {
      return refuse(socket, CLOSE.badFrame, 'NO_HELLO', 'The first frame must be hello.');
    }
    await this.#receive(socket, frame);
  }

  override async webSocketClose(socket: WebSocket, code: number): Promise<void> {
    socket.close(NEVER_SENT.has(code) ? undefined : code);
    const { account, bridgeId: bridge, state } = attachmentOf(socket);
    if (state === 'opened') return;
    if (state === 'welcomed') logEvent('bridge_disconnected', { account, bridge, status: code });
    if (this.#socket.isGreeted) return;
    this.#asks.bridgeLeft();
    connectedTunnels.delete(String(this.ctx.id));
    try {
      await inTime<void>(accountOf(this.env, account).bridgeClosed(bridge));
    } catch {
      // The account's object was reset: it asks when a reader attaches to it.
    }
  }

  /** Closes sockets with expired tokens, and fails calls not sent within `bridgeGraceMs`. Begun calls wait. */
  override async alarm(): Promise<void> {
    const now = Date.now();
    const endsMs = await this.#socket.endExpired(now, (account, session) =>
      this.#refusal(account, session),
    );
    if (endsMs !== null) await this.#wakeAt(endsMs);
    const socket = this.#socket.current(now);
    if (socket) this.#deliver(socket);
    const waiting = this.#waiting().filter(({ isPatient, cancelled }) => !isPatient || cancelled);
    // A cancelled call was given up, but its conversation does not know: try again. Math.abs: the clock may be set back.
    const isDue = ({ atMs, cancelled }: OpenCall) =>
      cancelled || Math.abs(now - atMs) >= RUN_LIMITS.bridgeGraceMs;
    const next = waiting.find((open) => !isDue(open));
    if (next) await this.#wakeAt(next.atMs + RUN_LIMITS.bridgeGraceMs);
    for (const open of waiting.filter(isDue)) await this.#giveUp(open);
    await this.#share();
  }

  /** An account that cannot be reached is asked again with the next token's end. */
  async #refusal(account: string, session: string): Promise<Refused | null> {
    try {
      return await inTime<Refused | null>(accountOf(this.env, account).refusal(session));
    } catch {
      return null;
    }
  }

  /** The calls that were never sent to a bridge. */
  #waiting(): OpenCall[] {
    return this.#store.readCalls().filter(({ delivered }) => !delivered);
  }

  /** Sends calls that were stored while the connection looked dead. Its pings were late, so no welcome follows. */
  #deliver(socket: WebSocket): void {
    for (const call of this.#whole(this.#waiting().filter(({ cancelled }) => !cancelled))) {
      sendFrame(socket, { type: 'call', call });
      this.#store.markDelivered(call.callId);
    }
  }

  /** The calls with their arguments. Those that an earlier instance has lost come again from their conversations. */
  #whole(open: readonly OpenCall[]): ToolCall[] {
    const whole = open.map(({ call, isCut }) => (isCut ? this.#private.get(call.callId) : call));
    const lost = open.filter((_, index) => !whole[index]);
    for (const conversationId of new Set(lost.map(({ call }) => call.conversationId))) {
      // An object that is reset dispatches its open calls when it wakes.
      const asked = inTime<void>(conversationOf(this.env, { conversationId }).dispatchAgain());
      this.ctx.waitUntil(asked.catch(() => undefined));
    }
    return whole.filter((call) => call !== undefined);
  }

  async #giveUp({ call: { callId } }: OpenCall): Promise<void> {
    // The bridge may have come back and received this call while other calls were given up.
    const open = this.#store.readCall(callId);
    if (!open || open.delivered) return;
    // A welcome skips cancelled calls: a call that is reported as not run must not run later.
    this.#store.markCancelled(callId);
    try {
      await this.#settle(open, OFFLINE);
    } catch {
      // The conversation's object was reset under the call.
      await this.#wakeAt(Date.now() + RUN_LIMITS.dispatchRetryMs);
    }
  }

  async #hello(socket: WebSocket, hello: Hello): Promise<void> {
    const { account, bridgeId, session } = attachmentOf(socket);
    const subject = this.#socket.takeSubject(socket);
    const proving = hello.proof === undefined ? NO_KEY : this.#prove(socket, hello.proof, subject);
    // The frames behind the hello wait for this.
    this.#proving.set(socket, proving);
    const proven = await proving;
    if (socket.readyState !== WebSocket.OPEN) return; // It has left meanwhile, and nothing knows of it.
    if (!proven.ok && proven.code === 'CLOCK_OFF')
      return socket.close(TRY_AGAIN_LATER, 'try again');
    if (!proven.ok) return refuse(socket, CLOSE.badFrame, 'BRIDGE_UNPROVEN', `${proven.message}.`);
    const { value: key } = proven;
    const refusal = this.#refusalOf(hello, key, attachmentOf(socket));
    if (refusal) return refuse(socket, ...refusal);
    try {
      if (!this.#isAtHome(hello, key)) await this.#giveUpMoved(hello);
    } catch {
      return socket.close(TRY_AGAIN_LATER, 'try again'); // A conversation's object was reset under the call.
    }
    const replaces = this.#socket.replaces(hello.bootId, Date.now());
    this.#introduce(hello, account, key, replaces);
    if (hello.restored) this.#cancelDelivered();
    this.#socket.greet(socket, hello.bootId);
    try {
      await this.#letIn(null);
      // Before the welcome: once the bridge is welcomed, its account must list it.
      const list = accountOf(this.env, account).bridgeConnected(bridgeId, session, replaces);
      const why = await inTime<Refused | null>(list);
      if (why === 'ACCOUNT_DELETED') return void (await this.erase(account));
      if (why) return refuseAs(socket, why);
    } catch {
      return socket.close(TRY_AGAIN_LATER, 'try again'); // The account's object was reset under the call.
    }
    if (this.#socket.isOutdated(socket))
      return socket.close(CLOSE.replaced, 'a newer one took over');
    this.#welcome(socket, hello.calls);
    const { offers: digest } = hello;
    if (digest === undefined || this.#store.readOffers(digest)) return;
    sendFrame(socket, { type: 'offers_wanted', digest });
  }

  /** Stores the hello. If its set of tools is not stored yet, the previous set stays in use until the set arrives. */
  #introduce(hello: Hello, owner: string, key: SessionKey | undefined, replaces: boolean): void {
    const { bridgeId: id, tools, confinement, context, offers, grants } = hello;
    const { offers: before, mayMove, replacedMs } = this.#store.readBridge() ?? {};
    const { editor: _, ...kept } = context;
    const { machineId } = hello;
    const nowMs = Date.now();
    const times = { greetedMs: nowMs, replacedMs: replaces ? nowMs : replacedMs };
    const now = { grants, ...times, ...(!hello.moved && { mayMove }) };
    const introduced = { id, owner, tools, confinement, context: kept, machineId, key, ...now };
    const isKnown = offers === undefined || this.#store.readOffers(offers) !== null;
    this.#store.saveBridge({ ...introduced, offers: isKnown ? offers : before });
  }

  /** Lists the bridge for those whom its machine lets in, and ends the calls of others that have not begun. */
  async #letIn(socket: WebSocket | null): Promise<void> {
    if (this.#guests.length > 0) await this.#wakeAt(Date.now() + RUN_LIMITS.dispatchRetryMs);
    this.#shared.forget(); // A guest's account may have been made anew.
    this.ctx.waitUntil(this.#share()); // This bridge does not wait for the objects of others.
    for (const open of this.#store.readCalls()) {
      const { grantee, callId } = open.call;
      if (grantee === undefined || this.#of(grantee)) continue;
      if (!open.delivered) await this.#settle(open, UNGRANTED);
      else this.#store.markCancelled(callId);
      if (open.delivered) sendFrame(socket, { type: 'cancel', callId });
    }
  }

  /** The accounts that list this bridge beside their own: users of apps list none. */
  get #guests(): readonly string[] {
    const { grants = [] } = this.#store.readBridge() ?? {};
    return grants.filter((name) => keyOfAccount(name) === undefined);
  }

  /** Has the accounts that its machine lets in list this bridge. An alarm stands before the first attempt. */
  async #share(): Promise<void> {
    await this.#shared.report();
    if (!this.#shared.isHeard) await this.#wakeAt(Date.now() + RUN_LIMITS.dispatchRetryMs);
  }

  /** The bridge no longer knows which of these calls it has run. */
  #cancelDelivered(): void {
    for (const { call, delivered } of this.#store.readCalls()) {
      if (delivered) this.#store.markCancelled(call.callId);
    }
  }

  /** The key that this hello proves. */
  #prove(socket: WebSocket, proof: string, subject: string): Promise<Outcome<SessionKey>> {
    const { origin } = attachmentOf(socket);
    const request = { env: this.env, req: { url: origin } };
    return toOutcome(() => newKeyIn(proof, subject, (host) => isOwnHost(request, host)));
  }

  #refusalOf(
    hello: Hello,
    key: SessionKey | undefined,
    { account, bridgeId }: SocketAttachment,
  ): readonly [closeCode: number, code: string, message: string] | null {
    if (hello.bridgeId !== bridgeId) {
      return [CLOSE.badFrame, 'WRONG_BRIDGE', 'The token belongs to another bridge.'];
    }
    const known = this.#store.readBridge();
    // Checked again, because two accounts may connect before either says hello. The first hello decides the owner.
    if (known && known.owner !== account) {
      return [CLOSE.badFrame, 'FORBIDDEN', 'This bridge belongs to another account.'];
    }
    if (known?.key && !key) return [CLOSE.badFrame, 'BRIDGE_UNPROVEN', UNPROVEN];
    if (this.#isAtHome(hello, key)) return null;
    const { key: allowed, untilMs = 0 } = known?.mayMove ?? {};
    const mayMove = isSame(known?.key, key) || (isSame(allowed, key) && Date.now() < untilMs);
    if (hello.moved && mayMove) return null;
    return [CLOSE.badFrame, 'BRIDGE_MOVED', hello.moved ? MAY_NOT_MOVE : NOT_AT_HOME];
  }

  /** Whether this is the folder and the machine of the bridge. A machine without a known key is known by its id. */
  #isAtHome({ context, machineId }: Hello, key: SessionKey | undefined): boolean {
    const known = this.#store.readBridge();
    if (!known) return true;
    const isMachine = known.key
      ? isSame(known.key, key)
      : known.machineId === undefined || known.machineId === machineId;
    return isMachine && known.context.workspacePath === context.workspacePath;
  }

  /** A call that was meant for the folder of before must not run in another one. */
  async #giveUpMoved({ context: { workspacePath } }: Hello): Promise<void> {
    const data = `The person has moved the bridge, which now works in ${workspacePath}. This call was for the folder before, and may or may not have run there.`;
    const result = failure('BRIDGE_MOVED', data);
    for (const open of this.#store.readCalls()) await this.#settle(open, result);
  }

  /** Makes this the socket in use, and sends it all open calls and answers. `journal` is the bridge's list of calls. */
  #welcome(socket: WebSocket, journal: readonly string[]): void {
    this.#socket.welcome(socket);
    const { account, bridgeId: bridge } = attachmentOf(socket);
    logEvent('bridge_connected', { account, bridge });
    const open = this.#store.readCalls();
    connectedTunnels.add(String(this.ctx.id));
    const isOver = ({ cancelled, atMs }: OpenCall) =>
      cancelled || wasTakenBack(this.env, atMs, Date.now());
    const calls = this.#whole(open.filter((each) => !isOver(each)));
    const answers = this.#store.readAnswers();
    // A quarter stays free for the other fields.
    const [fitting, answered] = [countFitting(calls, 1 / 2), countFitting(answers, 1 / 4)];
    sendFrame(socket, {
      type: 'welcome',
      protocol: TUNNEL_PROTOCOL,
      calls: calls.slice(0, fitting),
      cancels: open.filter(isOver).map(({ call }) => call.callId),
      answers: answers.slice(0, answered),
    });
    for (const call of calls.slice(fitting)) sendFrame(socket, { type: 'call', call });
    for (const answer of answers.slice(answered)) sendFrame(socket, { type: 'approval', answer });
    for (const { callId } of calls) this.#store.markDelivered(callId);
    this.#ackUnknown(socket, journal);
  }

  /** Lets the bridge drop journal entries of calls that are not open here. */
  #ackUnknown(socket: WebSocket, journal: readonly string[]): void {
    const known = new Set(this.#store.readCalls().map(({ call }) => call.callId));
    for (const callId of journal) {
      if (!known.has(callId)) sendFrame(socket, { type: 'ack', callId });
    }
  }

  async #receive(socket: WebSocket, frame: Exclude<BridgeFrame, Hello>): Promise<void> {
    switch (frame.type) {
      case 'context': {
        const { lookId, findings, context } = frame;
        const rows = isForOthers(lookId) ? 0 : this.#saveContext(context);
        return this.#asks.looked(lookId, { rows, context, ...(findings && { findings }) });
      }
      case 'offers':
        return this.#takeOffers(frame.set);
      case 'mcp_servers':
        return this.#store.saveMcpServers(frame.servers);
      case 'grants':
        return await this.#takeGrants(socket, frame.names);
      case 'processes':
      case 'enrolled':
      case 'files':
      case 'policy':
        return this.#asks.answered(frame);
      case 'held_calls':
        return this.#ackUnknown(socket, frame.calls);
      case 'guest_call':
        return await this.#beginGuestCall(socket, frame);
      default:
        return await this.#forward(socket, frame);
    }
  }

  /** The guest's conversation sends the call back through {@link dispatch}. */
  async #beginGuestCall(socket: WebSocket, call: GuestCall): Promise<void> {
    const { account, bridgeId } = attachmentOf(socket);
    const { callId, conversationId } = call;
    if (this.#begun.has(callId) || this.#store.readCall(callId)) return;
    if (this.#over.has(callId) || this.#hasManyGuestCalls)
      return sendFrame(socket, { type: 'ack', callId });
    const caller = { account, conversationId };
    this.#begun.set(callId, Date.now());
    try {
      const taking = conversationOf(this.env, caller).takeGuestCall(caller, bridgeId, call);
      const outcome = await inTime<Outcome<unknown>>(taking);
      if (outcome.ok) return;
      this.#begun.delete(callId);
      sendFrame(socket, { type: 'ack', callId });
    } catch {
      this.#begun.delete(callId);
      // The conversation's object was reset under the call. The bridge sends its guests' calls again.
      socket.close(TRY_AGAIN_LATER, 'try again');
    }
  }

  get #hasManyGuestCalls(): boolean {
    const now = Date.now();
    for (const [callId, atMs] of this.#begun) {
      // Its run was cancelled before its turn, or waits for another one of its conversation, which counts itself.
      if (Math.abs(now - atMs) >= RUN_LIMITS.bridgeGraceMs) this.#begun.delete(callId);
    }
    const calls = this.#store.readCalls().filter(({ call: { tool } }) => tool === guestEdit.name);
    return this.#begun.size + calls.length >= TUNNEL_LIMITS.maxGuestCalls;
  }

  async #takeGrants(socket: WebSocket, grants: readonly string[]): Promise<void> {
    const bridge = this.#store.readBridge();
    if (!bridge || JSON.stringify(bridge.grants ?? []) === JSON.stringify(grants)) return;
    this.#store.saveBridge({ ...bridge, grants });
    try {
      await this.#letIn(socket);
    } catch {
      socket.close(TRY_AGAIN_LATER, 'try again'); // An object was reset under the call. The next hello has them, too.
    }
  }

  /** Stores a set of tools. Runs that start from now on use it. */
  #takeOffers(set: OfferSet | null): void {
    const bridge = this.#store.readBridge();
    if (!bridge) return;
    if (set) this.#store.saveOffers(set);
    this.#store.saveBridge({ ...bridge, offers: set?.digest });
  }

  /**
   * Stores the context, and returns the number of rows written. Also keeps a late one: the next run uses it if the
   * bridge is gone. The editor is left out: it is old by then, and what is selected in it can be text of a private
   * conversation.
   */
  #saveContext({ editor: _, ...context }: MachineContext): number {
    const bridge = this.#store.readBridge();
    if (!bridge || JSON.stringify(bridge.context) === JSON.stringify(context)) return 0;
    this.#store.saveBridge({ ...bridge, context });
    return 1;
  }

  async #forward(socket: WebSocket, frame: CallFrame): Promise<void> {
    const open = this.#store.readCall(frame.callId);
    if (!open) return sendFrame(socket, { type: 'ack', callId: frame.callId });
    const conversation = conversationOf(this.env, open.call);
    try {
      switch (frame.type) {
        case 'result':
          await this.#settle(open, frame.result);
          return sendFrame(socket, { type: 'ack', callId: frame.callId });
        case 'output':
          await inTime<void>(conversation.output(frame.callId, frame.delta));
          return sendFrame(socket, { type: 'credit', chars: Math.max(1, frame.delta.length) });
        case 'approval_request':
          // A bridge asks no one about calls of others than its owner.
          if (open.call.grantee !== undefined) return;
          if (!fitsRow(frame.proposal)) return await this.#refuseQuestion(socket, open);
          this.#store.deleteOlderAnswer(frame);
          return await inTime<void>(conversation.approvalRequested(frame.callId, frame));
        case 'approval_refused':
          return this.#store.markAnswerRefused(frame, frame.message);
        case 'approval_resolved':
          await inTime<void>(conversation.approvalResolved(frame.callId, frame));
          return this.#store.deleteAnswerTo(frame);
        default:
          frame satisfies never;
      }
    } catch {
      // The conversation's object was reset under the call. The bridge sends everything without an ack again.
      socket.close(TRY_AGAIN_LATER, 'try again');
    }
  }

  /** Fails a call whose question is too large to store: a bridge would ask for ever. Our own bridge never sends one. */
  async #refuseQuestion(socket: WebSocket, open: OpenCall): Promise<void> {
    await this.#settle(open, PROPOSAL_TOO_LARGE);
    sendFrame(socket, { type: 'cancel', callId: open.call.callId });
  }

  async #settle(open: OpenCall, result: ToolResult): Promise<void> {
    await inTime<void>(conversationOf(this.env, open.call).settle(open.call.callId, result));
    this.#store.deleteCall(open.call.callId);
    this.#markOver(open.call.callId);
  }

  #markOver(callId: string): void {
    this.#private.delete(callId);
    this.#over.add(callId);
    const [oldest] = this.#over;
    if (oldest && this.#over.size > TUNNEL_LIMITS.maxSettled) this.#over.delete(oldest);
  }

  /** Returns the number of rows written: 0 if an earlier alarm is set. */
  async #wakeAt(atMs: number): Promise<number> {
    const standing = await this.ctx.storage.getAlarm();
    if (standing !== null && standing <= atMs) return 0;
    await this.ctx.storage.setAlarm(atMs);
    return 1;
  }
}

/** WebSocket close codes that no frame may carry (RFC 6455, section 7.4.1 and its registry). */
const NEVER_SENT: ReadonlySet<number> = new Set([1005, 1006, 1015]);
const TRY_AGAIN_LATER = 1013;

const OFFLINE = failure(
  'BRIDGE_OFFLINE',
  'The bridge to the developer’s machine is offline, so the call was not run.',
);

const UNGRANTED = failure(
  'NOT_GRANTED',
  'The owner of the machine does not let this account use it, or no longer does, so the call was not run.',
);

/** Neither names the folder, nor says whether it is the folder or the machine: a thief of a token learns nothing. */
const NOT_AT_HOME =
  'This bridge belongs to another folder or machine than this one. Give this folder a bridge of its own (a token made without --bridge-id; for a server of its own, another --state), or let the conversations go on here with --move.';
const MAY_NOT_MOVE =
  'This bridge belongs to another machine. A person must let it move here: sign this machine in (`drawbridge login URL`), and connect again with --move.';
const UNPROVEN =
  'This bridge must prove its machine’s key: update Drawbridge on this machine. If it is up to date, something on the way removes the header drawbridge-challenge.';

/** A bridge of before, which proves no key. */
const NO_KEY = Promise.resolve({ ok: true, value: undefined } as const);

/** Two keys. A missing one is the same as no other. */
function isSame(one: SessionKey | undefined, other: SessionKey | undefined): boolean {
  return one !== undefined && JSON.stringify(one) === JSON.stringify(other);
}

const PROPOSAL_TOO_LARGE = failure(
  'PROPOSAL_TOO_LARGE',
  'The bridge asked a person about more than can be shown, so the call was not run. Make several small calls of it.',
);
