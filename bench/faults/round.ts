/** Plays one round: sends a message, kills a process, and checks that the result is the same as without the kill. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, ClientError, createClient, signApproval } from '../../client/index.ts';
import type { ReadEvent, StreamEvent } from '../../shared/wire/events.ts';
import type { Random } from '../fuzz/random.ts';
import type { FaultHouse, Target } from './house.ts';
import { type Act, commandOf, LEAVES, modelOf, type Scenario, traceFileOf } from './scenarios.ts';
import { Sight } from './sight.ts';

/** The faults that a round can find. */
export const FAULTS = ['lost', 'doubled', 'changed', 'stuck'] as const;
export type Fault = (typeof FAULTS)[number];

export interface RoundResult {
  readonly targets: readonly Target[];
  /** What was in progress when the kill came. */
  readonly hit: Scenario | Act;
  /** From the kill to the next event; null if none came. */
  readonly recoveryMs: number | null;
  readonly tookMs: number;
  readonly faults: readonly { readonly fault: Fault; readonly detail: string }[];
}

export interface RoundPlan {
  readonly round: number;
  readonly scenario: Scenario;
  readonly targets: readonly Target[];
  /** The time from the scenario's moment to the kill, and from an approval's question to its answer. */
  readonly killAfterMs: number;
  readonly answerAfterMs: number;
}

/**
 * From the message to its end. Far longer than restarts take on a busy machine: what goes on at all is no fault, and
 * what took {@link SLOW_MS} is printed, because a deadline or an alarm may have come to its rescue.
 */
export const STUCK_MS = 180_000;
export const SLOW_MS = 20_000;
const RETRY_MS = 50;

/** From the scenario's moment. A tree takes longer: its subagents ask the model and run commands. */
const KILL_WITHIN_MS = { stream: 700, call: 350, approval: 300, tree: 1_500, idle: 100 } as const;

export function planRound(round: number, random: Random): RoundPlan {
  const scenario = random.pick([
    ...(['stream', 'stream', 'call', 'call', 'approval', 'tree', 'idle'] as const),
  ]);
  const targets = random.pick<readonly Target[]>([
    ['workerd'],
    ['workerd'],
    ['workerd'],
    ['bridge'],
    ['workerd', 'bridge'],
  ]);
  const killAfterMs = random.below(KILL_WITHIN_MS[scenario]);
  return { round, scenario, targets, killAfterMs, answerAfterMs: 400 + random.below(400) };
}

export async function playRound(house: FaultHouse, plan: RoundPlan): Promise<RoundResult> {
  const { targets } = plan;
  const startedMs = performance.now();
  const ending = AbortSignal.any([AbortSignal.timeout(STUCK_MS), house.fallen]);
  const client = createClient({ url: house.url, token: house.token });
  const sight = new Sight();
  const kill = new Kill(house, targets, sight);
  try {
    if (plan.scenario === 'idle') await kill.after(plan.killAfterMs);
    for await (const { event } of stream(client, house, plan, ending)) {
      kill.seen();
      sight.see(event);
      if (isMoment(plan.scenario, event)) void kill.after(plan.killAfterMs);
      if (event.type === 'approval_request')
        void approve(client, house, sight, event, plan, ending);
    }
  } catch (error) {
    house.fallen.throwIfAborted();
    if (!ending.aborted) throw error;
  }
  const tookMs = performance.now() - startedMs;
  const faults = await judge(client, house, plan, sight, kill);
  return { targets, hit: kill.hit ?? 'idle', recoveryMs: kill.recoveryMs, tookMs, faults };
}

/** Sends the message with a key until it is accepted: a kill may lose the message, or only its answer. */
async function* stream(
  client: Client,
  { state }: FaultHouse,
  { scenario, round }: RoundPlan,
  signal: AbortSignal,
): AsyncGenerator<{ event: ReadEvent }> {
  const request = {
    model: modelOf(scenario, round),
    bridgeId: state.bridgeId,
    messages: [{ role: 'user' as const, content: 'Go on.' }],
  };
  const idempotencyKey = `${state.bridgeId}-${round}`;
  for (;;) {
    try {
      return yield* client.streamChat(request, { idempotencyKey, signal });
    } catch (error) {
      if (!(error instanceof ClientError) || (error.status ?? 500) < 500) throw error;
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}

function isMoment(scenario: Scenario, event: ReadEvent): boolean {
  switch (scenario) {
    case 'stream':
      return event.type === 'content_delta';
    case 'call':
    case 'tree':
      return event.type === 'document_start';
    case 'approval':
      return event.type === 'approval_request';
    case 'idle':
      return false;
  }
}

/** Acts as the person: says yes after a moment, with this machine's key, until the API takes it. */
async function approve(
  client: Client,
  { state: { device } }: FaultHouse,
  sight: Sight,
  question: Extract<StreamEvent, { type: 'approval_request' }>,
  { answerAfterMs }: RoundPlan,
  signal: AbortSignal,
): Promise<void> {
  const { deviceId, privateKey: privateJwk } = device;
  const { conversationId } = sight;
  const { callId, nonce } = question;
  const signature = await signApproval({ deviceId, privateJwk }, { ...question, conversationId });
  const answer = { nonce, decision: 'once' as const, signature };
  await sleep(answerAfterMs);
  while (!signal.aborted) {
    try {
      return await client.answerApproval(conversationId, callId, answer, signal);
    } catch (error) {
      // 404 and 409: the question was answered, or its call is over. Other statuses: the house is restarting.
      const status = error instanceof ClientError ? (error.status ?? 500) : 500;
      if (status < 500) return;
      await sleep(RETRY_MS);
    }
  }
}

/** The round's one kill. */
class Kill {
  readonly #house: FaultHouse;
  readonly #targets: readonly Target[];
  readonly #sight: Sight;
  #planned = false;
  #atMs: number | null = null;
  hit: Scenario | null = null;
  recoveryMs: number | null = null;

  constructor(house: FaultHouse, targets: readonly Target[], sight: Sight) {
    this.#house = house;
    this.#targets = targets;
    this.#sight = sight;
  }

  async after(delayMs: number): Promise<void> {
    if (this.#planned) return;
    this.#planned = true;
    await sleep(delayMs);
    this.hit = this.#sight.underWay;
    for (const target of this.#targets) this.#house.kill(target);
    this.#atMs = performance.now();
  }

  /** Called for each event. */
  seen(): void {
    if (this.#atMs !== null) this.recoveryMs ??= performance.now() - this.#atMs;
  }
}

async function judge(
  client: Client,
  { workspaceDir, fallen }: FaultHouse,
  { round, scenario, targets }: RoundPlan,
  sight: Sight,
  kill: Kill,
): Promise<RoundResult['faults']> {
  const faults: { fault: Fault; detail: string }[] = [];
  const find = (fault: Fault, detail: string) => faults.push({ fault, detail });
  const { response, done } = sight;
  if (!response) find('lost', 'no event of the response came');
  else if (done === 0) {
    const signal = AbortSignal.any([AbortSignal.timeout(STUCK_MS), fallen]);
    const stored = await client.getResponse(response.id, signal).catch(String);
    const isEnded = typeof stored !== 'string' && stored.status === 'completed';
    find(isEnded ? 'lost' : 'stuck', `no done; the response is ${JSON.stringify(stored)}`);
  } else {
    const stored = await readPatiently(client, response.id);
    for (const problem of sight.differencesTo(stored)) find('changed', problem);
    if (stored.status !== 'completed') find('lost', `ended as ${stored.status}`);
  }
  if (done > 1) find('doubled', `${done} times done`);
  if (commandOf(scenario, round) !== null) {
    const runs = countLines(join(workspaceDir, traceFileOf(round)));
    const wanted = sight.succeeded ? [1] : [0, 1];
    if (!wanted.includes(runs))
      find(runs > 1 ? 'doubled' : 'lost', `the command ran ${runs} times`);
  }
  // A bridge that dies in a command does not know its outcome, and the subagent says so.
  const wanted = targets.includes('bridge') ? [0, 1] : [1];
  for (const leaf of scenario === 'tree' ? LEAVES : []) {
    const runs = countLines(join(workspaceDir, traceFileOf(round, leaf)));
    if (!wanted.includes(runs))
      find(runs > 1 ? 'doubled' : 'lost', `the command of leaf ${leaf} ran ${runs} times`);
  }
  if (kill.hit === null) find('stuck', 'the moment of the kill never came');
  return faults;
}

/** Retries: the kill may come at the end, when the response exists but its server is down. */
async function readPatiently(client: Client, responseId: string) {
  const signal = AbortSignal.timeout(STUCK_MS);
  for (;;) {
    try {
      return await client.getResponse(responseId, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function countLines(path: string): number {
  try {
    return readFileSync(path, 'utf8').split('\n').length - 1;
  } catch {
    return 0; // The command never ran.
  }
}
