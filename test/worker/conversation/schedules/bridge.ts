/** A bridge that keeps to the tunnel's contract as the real one does, and counts what it ran. */
import { LINK_LIMITS } from '../../../../bridge/tunnel/limits.ts';
import {
  type ApprovalAnswer,
  type BridgeFrame,
  type MachineContext,
  PING,
  PONG,
  type ToolCall,
  TUNNEL_PROTOCOL,
  TunnelFrame,
} from '../../../../shared/wire/tunnel.ts';
import { requestBridge } from '../../tunnel/scripted-bridge.ts';

import { sleep } from './device.ts';

/** What the schedule gets. */
export interface BridgeEvents {
  /** The call is here and has not run; it runs when this resolves. */
  received(call: ToolCall): Promise<void>;
  /** The conversation has stored the result. */
  acked(callId: string): void;
}

const CONTEXT: MachineContext = {
  os: 'TestOS',
  shell: 'sh',
  workspacePath: '/work',
  projectLayout: 'a.ts',
};

/** After a connection that could not be made. */
const RETRY_MS = 20;

interface JournalEntry {
  readonly call: ToolCall;
  state: 'waiting' | 'asking' | 'finished' | 'cancelled';
}

/** Comes back by itself when its connection is lost. */
export class CountingBridge {
  /** How often each thing was run: by call id, and by what the model meant. */
  readonly runs = new Map<string, number>();
  readonly #account: string;
  readonly #bridgeId: string;
  readonly #events: BridgeEvents;
  readonly #journal = new Map<string, JournalEntry>();
  #socket: WebSocket | null = null;
  #isComingBack = false;
  #left = false;

  constructor(account: string, bridgeId: string, events: BridgeEvents) {
    this.#account = account;
    this.#bridgeId = bridgeId;
    this.#events = events;
  }

  /** Resolves when it was welcomed. */
  async connect(): Promise<void> {
    const response = await requestBridge({ account: this.#account, bridgeId: this.#bridgeId });
    const { webSocket: socket } = response;
    if (!socket) throw new Error(`the bridge was refused: ${response.status}`);
    const welcomed = Promise.withResolvers<void>();
    // Else the Worker takes a connection for dead that is older than `deadMs`, as on a busy machine.
    const pinging = setInterval(() => this.#ping(pinging), LINK_LIMITS.pingMs);
    socket.addEventListener('message', ({ data }) => {
      if (data === PONG) return;
      const frame = TunnelFrame.parse(JSON.parse(String(data)));
      if (frame.type === 'welcome') this.#socket = socket;
      this.#take(frame);
      if (frame.type === 'welcome') welcomed.resolve();
    });
    for (const type of ['close', 'error'] as const) {
      socket.addEventListener(type, () => {
        clearInterval(pinging);
        welcomed.resolve();
        void this.#comeBack(socket);
      });
    }
    socket.accept();
    socket.send(JSON.stringify(this.#hello()));
    await welcomed.promise;
  }

  leave(): void {
    this.#left = true;
    this.#socket?.close(1000, 'leaving');
  }

  #hello(): BridgeFrame {
    return {
      type: 'hello',
      protocol: TUNNEL_PROTOCOL,
      bridgeId: this.#bridgeId,
      bootId: crypto.randomUUID(),
      tools: ['read_file'],
      confinement: { kind: 'none', detail: 'scripted' },
      context: CONTEXT,
      calls: [...this.#journal.keys()],
    };
  }

  /** A socket can end in two ways at once, and the next one before it was welcomed. */
  async #comeBack(lost: WebSocket): Promise<void> {
    if (this.#isComingBack || (this.#socket !== lost && this.#socket !== null)) return;
    this.#isComingBack = true;
    this.#socket = null;
    while (!this.#left && !this.#socket) {
      await this.connect().catch(() => undefined);
      if (!this.#socket) await sleep(RETRY_MS);
    }
    this.#isComingBack = false;
  }

  #take(frame: TunnelFrame): void {
    if (frame.type === 'welcome') {
      for (const call of frame.calls) this.#receive(call);
      for (const answer of frame.answers) this.#answered(answer);
      for (const callId of frame.cancels) this.#cancel(callId);
    }
    if (frame.type === 'look') {
      this.#send({ type: 'context', lookId: frame.lookId, context: CONTEXT });
    }
    if (frame.type === 'call') this.#receive(frame.call);
    if (frame.type === 'cancel') this.#cancel(frame.callId);
    if (frame.type === 'approval') this.#answered(frame.answer);
    if (frame.type === 'ack' && this.#journal.delete(frame.callId)) {
      this.#events.acked(frame.callId);
    }
  }

  #receive(call: ToolCall): void {
    const known = this.#journal.get(call.callId);
    if (known?.state === 'finished') return this.#result(call);
    if (known?.state === 'cancelled') return this.#cancelled(call);
    if (known?.state === 'asking') return this.#ask(call);
    if (known) return;
    this.#journal.set(call.callId, { call, state: 'waiting' });
    void this.#begin(call);
  }

  async #begin(call: ToolCall): Promise<void> {
    const entry = this.#journal.get(call.callId);
    if (!entry) return;
    if (pathOf(call).endsWith('.asks')) {
      entry.state = 'asking';
      return this.#ask(call);
    }
    await this.#events.received(call);
    this.#run(call);
  }

  #answered({ callId, nonce, decision }: ApprovalAnswer): void {
    const entry = this.#journal.get(callId);
    if (entry?.state !== 'asking' || nonce !== nonceOf(callId)) return;
    entry.state = 'waiting';
    this.#send({ type: 'approval_resolved', callId, nonce, decision, by: 'device' });
    this.#run(entry.call);
  }

  /** What has not run will not; what has is sent again. */
  #cancel(callId: string): void {
    const entry = this.#journal.get(callId);
    if (!entry) return;
    if (entry.state === 'finished') return this.#result(entry.call);
    entry.state = 'cancelled';
    this.#cancelled(entry.call);
  }

  #run(call: ToolCall): void {
    const entry = this.#journal.get(call.callId);
    if (entry?.state !== 'waiting') return;
    entry.state = 'finished';
    for (const name of [call.callId, pathOf(call)]) {
      this.runs.set(name, (this.runs.get(name) ?? 0) + 1);
    }
    this.#result(call);
  }

  #cancelled({ callId }: ToolCall): void {
    const result = { status: 'error', code: 'CANCELLED', data: 'Cancelled.' } as const;
    this.#send({ type: 'result', callId, result });
  }

  #ask({ callId, tool, arguments: args }: ToolCall): void {
    const proposal = { kind: 'call', tool, arguments: args } as const;
    const asked = { nonce: nonceOf(callId), proposal, reason: 'A rule asks.' };
    this.#send({ type: 'approval_request', callId, ...asked });
  }

  #result(call: ToolCall): void {
    const data = `content of ${pathOf(call)}`;
    this.#send({ type: 'result', callId: call.callId, result: { status: 'success', data } });
  }

  #ping(pinging: ReturnType<typeof setInterval>): void {
    if (this.#left) clearInterval(pinging);
    else this.#sendText(PING);
  }

  #send(frame: BridgeFrame): void {
    this.#sendText(JSON.stringify(frame));
  }

  /** What is said into a lost connection is said again after the next welcome. */
  #sendText(text: string): void {
    try {
      this.#socket?.send(text);
    } catch {
      // It closed under us: the journal has it.
    }
  }
}

/** Each call is asked about once, however often it is sent. */
function nonceOf(callId: string): string {
  return `nonce_${callId}`;
}

/** What the model meant by a call. */
export function pathOf({ arguments: args }: ToolCall): string {
  return String(args['target_file']);
}
