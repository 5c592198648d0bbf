/** A session over a real journal and a real folder, with the test at the other end of its connection. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { DeviceAsker } from '../../../bridge/admission/askers.ts';
import { Asking } from '../../../bridge/admission/asking.ts';
import type { JudgedCall } from '../../../bridge/admission/policy.ts';
import type { Checkpoints } from '../../../bridge/checkpoints/checkpoints.ts';
import { undoingIn } from '../../../bridge/checkpoints/undoing.ts';
import { Audit } from '../../../bridge/grantees/audit.ts';
import { Grantees } from '../../../bridge/grantees/grantees.ts';
import { Journal } from '../../../bridge/tunnel/journal.ts';
import { CallSession } from '../../../bridge/tunnel/session.ts';
import { Guests } from '../../../packages/editors/guests/guests.ts';
import { ReadLedger } from '../../../packages/host/ledger.ts';
import type { BridgeTool, FileChange, ToolContext } from '../../../packages/host/tool.ts';
import { newCallId, newConversationId } from '../../../shared/ids.ts';
import { readFile } from '../../../shared/tools/read-file.ts';
import { write } from '../../../shared/tools/write.ts';
import type { ApprovalQuestion, DeviceKey } from '../../../shared/wire/approvals.ts';
import type { Metadata } from '../../../shared/wire/documents.ts';
import type { Effect } from '../../../shared/wire/modes.ts';
import type { Decision } from '../../../shared/wire/policy.ts';
import {
  type BridgeFrame,
  type ToolCall,
  type ToolResult,
  TUNNEL_PROTOCOL,
  type TunnelFrame,
} from '../../../shared/wire/tunnel.ts';
import { BRIDGE_ID } from '../admission/device.ts';
import { roomsOf } from '../one-room.ts';
import {
  type TemporaryWorkspace,
  temporaryWorkspace,
  toolsWith,
} from '../tools/temporary-workspace.ts';

const CONVERSATION = newConversationId(randomUUID());

export function newCall(tool: string, args: Record<string, unknown> = {}): ToolCall {
  const callId = newCallId(randomUUID());
  return { callId, conversationId: CONVERSATION, tool, arguments: args, mode: 'agent' };
}

/** One run of a scripted tool, which ends when the test says so, or with its signal. */
export interface ScriptedRun {
  readonly args: Metadata;
  readonly context: ToolContext;
  end(result: ToolResult): void;
  fail(error: unknown): void;
}

/** A tool that takes anything, and gives the test each run. */
export function scriptedTool(
  name: string,
  { effect, idempotent = false, lane = null, change }: ToolTraits,
): { tool: BridgeTool; runs: ScriptedRun[] } {
  const runs: ScriptedRun[] = [];
  const apply = (args: Metadata, context: ToolContext) => {
    const { promise, resolve, reject } = Promise.withResolvers<ToolResult>();
    const stop = () => reject(context.signal.reason);
    if (context.signal.aborted)
      stop(); // Between the call's last look and its start.
    else context.signal.addEventListener('abort', stop);
    runs.push({ args, context, end: resolve, fail: reject });
    return promise;
  };
  const { document } = lane === null ? readFile : write;
  const path = lane ?? name;
  const definition = {
    ...readFile,
    name,
    effect,
    idempotent,
    document,
    subject: () => path,
    subjects: () => [path],
  };
  const read: BridgeTool['read'] = (given) => {
    const args = given as Metadata;
    const proposal = { kind: 'call', tool: name, arguments: args } as const;
    const work = { proposal, apply: (context: ToolContext) => apply(args, context) };
    const proposed = change === undefined ? work : { ...work, change };
    return { args, subjects: [path], paths: [path], propose: async () => proposed };
  };
  return { tool: { definition, read }, runs };
}

export interface ToolTraits {
  readonly effect: Effect;
  readonly idempotent?: boolean;
  /** The file that it changes. */
  readonly lane?: string | null;
  /** What it does to that file. */
  readonly change?: FileChange;
}

/** When everything that can go on without the disk has done so. */
export const DONE: ToolResult = { status: 'success', data: 'done' };
export const CANCELLED: ToolResult = { status: 'error', code: 'CANCELLED', data: 'Cancelled.' };
export const UNKNOWN = { status: 'error', code: 'UNKNOWN_OUTCOME', data: expect.any(String) };

export const command = () => scriptedTool('command', { effect: 'execute' });

export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The run after `count` others. */
export async function nextRun(runs: readonly ScriptedRun[], count = 0): Promise<ScriptedRun> {
  return await vi.waitUntil(() => runs[count], { interval: 1 });
}

/** The question number `count` of the present connection, as a device signs it. */
export async function nextQuestion(
  bench: Bench,
  { conversationId }: ToolCall,
  count = 1,
): Promise<ApprovalQuestion> {
  const { callId, nonce, proposal } = await vi.waitUntil(
    () => bench.sent.filter((frame) => frame.type === 'approval_request')[count - 1],
    { interval: 1 },
  );
  return { bridgeId: BRIDGE_ID, callId, nonce, conversationId, proposal };
}

/** The first result that the present connection was given. */
export async function nextResult(bench: Bench, call: ToolCall): Promise<ToolResult> {
  return await vi.waitUntil(() => bench.resultsOf(call)[0], { interval: 1 });
}

interface BenchOptions {
  readonly decide?: (call: JudgedCall) => Decision | Promise<Decision>;
  readonly devices?: readonly DeviceKey[];
  readonly tools?: readonly BridgeTool[];
  /** How long a guest that was answered itself has to write its file. */
  readonly writeMs?: number;
  readonly checkpoints?: Checkpoints;
}

export class Bench {
  readonly place: TemporaryWorkspace;
  readonly #options: BenchOptions;
  /** Everything the connection was given, in order; a new connection begins a new list. */
  sent: BridgeFrame[] = [];
  #process: { readonly session: CallSession; readonly journal: Journal; readonly guests: Guests };

  private constructor(place: TemporaryWorkspace, options: BenchOptions) {
    this.place = place;
    this.#options = options;
    this.#process = this.#start();
    onTestFinished(async () => {
      await this.session.end();
      this.journal[Symbol.dispose]();
    });
  }

  static async start(
    options: BenchOptions = {},
    files: Record<string, string> = {},
  ): Promise<Bench> {
    return Bench.over(await temporaryWorkspace(files), options);
  }

  /** In a place that is there, with the journal that an earlier process has left beside it. */
  static over(place: TemporaryWorkspace, options: BenchOptions = {}): Bench {
    const bench = new Bench(place, options);
    bench.connect();
    return bench;
  }

  /** Beside the workspace. */
  get stateDir(): string {
    return join(this.place.root, '..');
  }

  get session(): CallSession {
    return this.#process.session;
  }

  get guests(): Guests {
    return this.#process.guests;
  }

  get journal(): Journal {
    return this.#process.journal;
  }

  /** A new connection, up to its welcome. */
  connect(open: Partial<Extract<TunnelFrame, { type: 'welcome' }>> = {}): void {
    this.sent = [];
    const { sent } = this;
    this.session.attach((frame) => sent.push(frame));
    const nothing = { calls: [], cancels: [], answers: [] };
    this.session.receive({ type: 'welcome', protocol: TUNNEL_PROTOCOL, ...nothing, ...open });
  }

  /** As if this process had been killed, and another one started. */
  restart(): void {
    this.session.detach();
    this.journal[Symbol.dispose]();
    this.#process = this.#start();
  }

  send(...calls: readonly ToolCall[]): void {
    for (const call of calls) this.session.receive({ type: 'call', call });
  }

  /** The first result of a call that is sent now. */
  async run(call: ToolCall): Promise<ToolResult> {
    this.send(call);
    return await nextResult(this, call);
  }

  /** The question about a call that is sent now. */
  async ask(call: ToolCall): Promise<ApprovalQuestion> {
    this.send(call);
    return await nextQuestion(this, call);
  }

  resultsOf({ callId }: ToolCall): ToolResult[] {
    return this.sent.flatMap((frame) =>
      frame.type === 'result' && frame.callId === callId ? [withoutDuration(frame.result)] : [],
    );
  }

  #start() {
    const {
      decide = () => 'allow',
      devices = [],
      tools = [],
      writeMs = 300,
      checkpoints,
    } = this.#options;
    const journal = Journal.open(join(this.place.root, '..', 'journal.jsonl'), randomUUID());
    const asker = new DeviceAsker({
      keys: async () => devices,
      onRefused: (answer, why) => session.sendRefusal(answer, why),
    });
    const asking = new Asking({
      bridgeId: BRIDGE_ID,
      book: journal,
      askers: [asker],
      onRequested: (open) => session.sendQuestion(open),
      onResolved: (question, resolution) => session.sendResolution(question, resolution),
    });
    const { root } = this.place;
    const { workspace } = this.place.context;
    const guests = new Guests({
      root,
      workspace,
      limits: { writeMs, lookMs: 10 },
      cancel: (callId) => session.cancel(callId),
    });
    const session: CallSession = new CallSession({
      rooms: roomsOf({
        workspace,
        tools: toolsWith([...tools, guests.tool]),
        judge: async (call) => ({ decision: await decide(call), reason: 'the test says so' }),
        undoing: checkpoints && undoingIn(checkpoints, { kind: 'workspace', workspace }),
      }),
      guards: [],
      guests,
      feeds: [guests],
      ledger: new ReadLedger(),
      asking,
      devices: asker,
      journal,
      answers: {
        look: unasked,
        processes: unasked,
        enrol: unasked,
        files: unasked,
        policy: unasked,
        offers_wanted: unasked,
      },
      grantees: new Grantees(this.stateDir),
      audit: new Audit(this.stateDir),
    });
    return { session, journal, guests };
  }
}

const unasked = () => Promise.reject(new Error('no test asks'));

/** It differs from run to run. */
function withoutDuration({ metadata, ...result }: ToolResult): ToolResult {
  const { duration_ms: _, ...rest } = metadata ?? {};
  return Object.keys(rest).length === 0 ? result : { ...result, metadata: rest };
}

/** A session with a call that runs: of a command, unless another tool is given. */
export async function startCall({ tool, runs } = command()) {
  const bench = await Bench.start({ tools: [tool] });
  const call = newCall(tool.definition.name);
  bench.send(call);
  const run = await nextRun(runs);
  return { bench, call, runs, run };
}
