/** An edge that does what it likes with calls and signatures, decided from a seed, and a person who signs what is shown. */
import { randomUUID } from 'node:crypto';
import { Random } from '../../../bench/fuzz/random.ts';
import { newCallId, newConversationId } from '../../../shared/ids.ts';
import { canonicalJson } from '../../../shared/wire/approval-text.ts';
import type { ApprovalAnswer, ToolCall } from '../../../shared/wire/tunnel.ts';
import { BRIDGE_ID, newDevice } from '../admission/device.ts';
import { Bench, newCall, scriptedTool, settle } from './session-bench.ts';

const STEPS = 120;
/** Signing, checking a signature and looking where a path leads leave the loop for a moment, several in a row. */
const SETTLES = 8;

export interface Attack {
  /** What the person has signed, and what was started, each as the text of conversation and proposal. */
  readonly signed: readonly string[];
  readonly started: readonly string[];
}

/** Plays one seed. Whatever the edge did, each start must have a signature of its own over what was started. */
export async function attack(seed: number): Promise<Attack> {
  const random = new Random(seed);
  const device = await newDevice();
  const { tool, runs } = scriptedTool('command', {
    effect: random.pick(['execute', 'write', 'read'] as const),
    idempotent: random.chance(0.3),
    lane: random.chance(0.5) ? 'a' : null,
  });
  const bench = await Bench.start({ decide: () => 'ask', devices: [device.key], tools: [tool] });
  const edge = new HostileEdge(random);
  const signed: string[] = [];
  const seen = new Set<string>();

  /** The person answers each question once, most of them with yes. */
  const sign = async () => {
    for (const frame of bench.sent) {
      if (frame.type !== 'approval_request' || seen.has(frame.nonce)) continue;
      seen.add(frame.nonce);
      const { callId, nonce, proposal } = frame;
      if (random.chance(0.1)) continue;
      const conversationId = edge.placeOf(callId);
      const question = { bridgeId: BRIDGE_ID, callId, nonce, conversationId, proposal };
      edge.answers.push(await device.approve(question));
      const shown = proposal.kind === 'call' ? proposal.arguments : proposal;
      signed.push(canonicalJson({ conversationId, arguments: shown }));
    }
  };
  for (let step = 0; step < STEPS; step++) {
    edge.act(bench);
    if (random.chance(0.3)) runs.at(-1)?.end({ status: 'success', data: 'done' });
    for (let count = 0; count < SETTLES; count++) await passPool();
    await sign();
  }
  await bench.session.end();
  bench.journal[Symbol.dispose]();
  const started = runs.map(({ args, context: { conversationId } }) =>
    canonicalJson({ conversationId, arguments: args }),
  );
  return { signed, started };
}

/** Lets the threads of this process, which check signatures and read files, take what came before. */
async function passPool(): Promise<void> {
  await settle();
  await crypto.subtle.digest('SHA-256', new Uint8Array(1));
  await settle();
}

class HostileEdge {
  readonly answers: ApprovalAnswer[] = [];
  readonly #random: Random;
  readonly #calls: ToolCall[];
  /** The conversation of each call that was sent last. */
  readonly #sent = new Map<string, string>();
  readonly #callIds = [newCallId(randomUUID()), newCallId(randomUUID())];
  readonly #conversations = [newConversationId(randomUUID()), newConversationId(randomUUID())];

  constructor(random: Random) {
    this.#random = random;
    this.#calls = this.#callIds.flatMap((callId) =>
      this.#conversations.flatMap((conversationId) =>
        ['push', 'push --force'].map((command) => ({
          ...newCall('command', { command }),
          callId,
          conversationId,
        })),
      ),
    );
  }

  /** The conversation in which it shows a question, mostly the right one; a device signs the one that it shows. */
  placeOf(callId: string): string {
    const place = this.#random.chance(0.8) ? this.#sent.get(callId) : undefined;
    return place ?? this.#random.pick(this.#conversations);
  }

  act(bench: Bench): void {
    const random = this.#random;
    const callId = random.pick(this.#callIds);
    switch (random.below(8)) {
      case 0:
      case 1:
        return bench.send(this.#pickCall());
      case 2:
      case 3:
        return this.#replay(bench);
      case 4:
        return bench.session.receive({ type: 'ack', callId });
      case 5:
        return bench.session.receive({ type: 'cancel', callId });
      case 6:
        bench.restart();
        return bench.connect(this.#welcome());
      default:
        bench.session.detach();
        return bench.connect(this.#welcome());
    }
  }

  #replay(bench: Bench): void {
    if (this.answers.length === 0) return;
    const newest = this.answers.slice(this.#random.chance(0.5) ? -1 : 0);
    const answer = this.#random.pick(newest);
    const other = this.#random.pick(this.answers);
    const callId = this.#random.pick(this.#callIds);
    const mixed = this.#random.pick([
      ...[answer, answer, answer, answer, { ...answer, callId }, { ...answer, nonce: other.nonce }],
      ...[{ ...answer, nonce: other.nonce, callId: other.callId }],
    ]);
    bench.session.receive({ type: 'approval', answer: mixed });
  }

  #pickCall(): ToolCall {
    const call = this.#random.pick(this.#calls);
    this.#sent.set(call.callId, call.conversationId);
    return call;
  }

  #welcome() {
    const calls = this.#random.chance(0.7) ? [this.#pickCall()] : [];
    return { calls, answers: this.#random.chance(0.5) ? this.answers.slice(-3) : [] };
  }
}

/** What was started more often than it was signed. */
export function overruns({ signed, started }: Attack): string[] {
  const left = [...signed];
  return started.filter((text) => {
    const index = left.indexOf(text);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}
