/** One schedule from its first message to what it must have come to. */
import { evictDurableObject, runInDurableObject, SELF } from 'cloudflare:test';
import { Random } from '../../../../bench/fuzz/random.ts';
import type { ChatResponse } from '../../../../shared/documents.ts';
import type { StreamEvent, TapeEvent } from '../../../../shared/events.ts';
import { newBridgeId, newDeviceId } from '../../../../shared/ids.ts';
import { tokenFor } from '../../api.ts';
import { tunnelOf } from '../../tunnel/scripted-bridge.ts';
import { conversationObject } from '../conversing.ts';
import { CountingBridge } from './bridge.ts';
import { Follower } from './follower.ts';
import { modelNameOf, type Scripted } from './model.ts';
import type { CrashPoint, PlannedFollower } from './plan.ts';

/** Everything that was wrong, and how often each point was hit. */
export interface Outcome {
  readonly problems: readonly string[];
  readonly hits: readonly CrashPoint[];
}

interface Accepted {
  readonly responseId: string;
  readonly conversationId: string;
  readonly stream: Response;
}

const ACCOUNTS = 20;
const RETRY_MS = 100;
/** A turn is stored and told within about this time of its last byte. */
const END_RACE_MS = 10;
const tokens = new Map<string, Promise<string>>();

export class ScheduleRun {
  readonly #scripted: Scripted;
  readonly #account: string;
  readonly #bridgeId = newBridgeId(crypto.randomUUID());
  readonly #bridge: CountingBridge;
  readonly #random: Random;
  readonly #hits: CrashPoint[] = [];
  readonly #problems: string[] = [];
  readonly #answered = new Set<string>();
  /** Calls of a step that are at the bridge, and who waits for the rest of them. */
  readonly #received = new Map<string, { count: number; all: PromiseWithResolvers<void> }>();
  readonly #acked = new Map<string, number>();
  readonly #steps = new Map<string, string>();
  /** Those under way, and those made: what is checked must not be taken away meanwhile. */
  readonly #crashes: Promise<void>[] = [];
  #conversationId = '';
  #isOver = false;

  constructor(scripted: Scripted) {
    const { seed } = scripted.plan;
    this.#scripted = scripted;
    this.#account = `account-${seed % ACCOUNTS}`;
    this.#random = new Random(seed ^ 0x5eed);
    this.#bridge = new CountingBridge(this.#account, this.#bridgeId, {
      received: (call) => this.#callReceived(String(call.arguments['target_file']), call.callId),
      acked: (callId) => this.#callAcked(callId),
    });
  }

  /** Resolves also when it is stuck, with that as a problem. */
  async run(limitMs: number): Promise<Outcome> {
    const late = new Promise<'stuck'>((resolve) => setTimeout(() => resolve('stuck'), limitMs));
    const played = this.#play().catch((error: unknown) => {
      this.#problems.push(`threw ${error instanceof Error ? error.stack : String(error)}`);
    });
    if ((await Promise.race([played, late])) === 'stuck') this.#problems.push('stuck');
    this.#isOver = true;
    this.#bridge.leave();
    return { problems: [...this.#problems], hits: [...this.#hits] };
  }

  /** Makes the crash that the model has come to. */
  async crashByModel(point: CrashPoint): Promise<void> {
    await this.#crash(point, point === 'at_the_end' ? this.#random.below(END_RACE_MS) : 0);
  }

  async #play(): Promise<void> {
    const { plan } = this.#scripted;
    if (this.#needsBridge) await this.#bridge.connect();
    const accepted: Accepted[] = [];
    for (const index of plan.messages.keys()) accepted.push(await this.#send(index, accepted[0]));
    if (plan.crashWhileQueued) await this.#crash('while_queued');
    this.#scripted.mayAnswer = true;
    const followers = [
      ...accepted.map((one) => this.#followSent(one)),
      ...plan.followers.map((planned) => this.#followAgain(planned, accepted)),
    ];
    await Promise.all(followers.map(({ following }) => following));
    await this.#check(
      accepted,
      followers.map(({ follower }) => follower),
    );
  }

  get #needsBridge(): boolean {
    return this.#scripted.plan.messages.flat().some(({ calls }) => calls.length > 0);
  }

  /** With a key, so that it can be said again when a crash ate the answer. */
  async #send(index: number, first: Accepted | undefined): Promise<Accepted> {
    const body = {
      model: modelNameOf(this.#scripted.plan.seed),
      messages: [{ role: 'user', content: `message ${index}` }],
      stream: true,
      include: ['reasoning'],
      ...(first && { conversationId: first.conversationId }),
      ...(!first && this.#needsBridge && { bridgeId: this.#bridgeId }),
    };
    const stream = await this.#fetch('chat/completions', body, `key-${index}-${this.#bridgeId}`);
    if (stream.status >= 500) {
      await stream.text();
      await sleep(RETRY_MS);
      return await this.#send(index, first);
    }
    if (stream.status !== 200) throw new Error(`refused: ${await stream.text()}`);
    const conversationId = stream.headers.get('drawbridge-conversation-id') ?? '';
    this.#conversationId = conversationId;
    return {
      ...{ conversationId, stream },
      responseId: stream.headers.get('drawbridge-response-id') ?? '',
    };
  }

  #followSent({ responseId, stream }: Accepted) {
    const leaves = this.#scripted.plan.followers[0]?.leaves ?? [];
    const follower = this.#newFollower({ follows: 'response', leaves }, responseId, 1);
    return { follower, following: follower.follow(stream) };
  }

  #followAgain(planned: PlannedFollower, accepted: readonly Accepted[]) {
    const { responseId } = this.#random.pick(accepted);
    const ends = planned.follows === 'conversation' ? accepted.length : 1;
    const follower = this.#newFollower(planned, responseId, ends);
    return { follower, following: follower.follow() };
  }

  #newFollower(planned: PlannedFollower, responseId: string, ends: number): Follower {
    const path =
      planned.follows === 'conversation'
        ? `conversations/${this.#conversationId}/events`
        : `chat/completions/${responseId}/events`;
    return new Follower(planned, {
      ends,
      open: (cursor) => this.#fetch(`${path}?after=${cursor}`),
      seen: (event, current) => this.#seen(event, current),
    });
  }

  /** The person of the schedule: answers what is asked, once, after what was to happen before. */
  #seen(event: StreamEvent, responseId: string): void {
    if (event.type === 'clarification_request') {
      const path = `conversations/${this.#conversationId}/clarifications/${event.documentId}`;
      const body = { answers: [{ questionId: 'q', optionIds: ['a'] }] };
      void this.#answerOnce(`${responseId} ${event.documentId}`, path, body, 'question_waiting');
    }
    if (event.type === 'approval_request') {
      const path = `conversations/${this.#conversationId}/approvals/${event.callId}`;
      void this.#answerOnce(event.callId, path, YES, 'approval_waiting');
    }
  }

  async #answerOnce(key: string, path: string, body: object, point: CrashPoint): Promise<void> {
    if (this.#answered.has(key)) return;
    this.#answered.add(key);
    try {
      if (this.#isPlanned(point)) await this.#crash(point);
      for (let status = 500; status >= 500; ) {
        const response = await this.#fetch(path, body);
        status = response.status;
        await response.text();
        if (status >= 500) await sleep(RETRY_MS);
      }
    } catch (error) {
      this.#problems.push(`an answer threw ${String(error)}`);
    }
  }

  /** At most one for each of the plan's turns that wait like this. */
  #isPlanned(point: CrashPoint): boolean {
    const planned = this.#scripted.plan.messages.flat();
    const wanted = planned.filter(({ waitingCrash }) => waitingCrash === point).length;
    const made = this.#hits.filter((hit) => hit === point).length;
    return made < wanted;
  }

  /** Keeps a turn's calls together until all are here, so that the crash finds all of them out. */
  async #callReceived(path: string, callId: string): Promise<void> {
    const step = stepOf(path);
    this.#steps.set(callId, step);
    const turn = this.#turnOf(step);
    if (turn?.waitingCrash !== 'calls_out' && turn?.waitingCrash !== 'tunnel_lost') return;
    const waiting = this.#received.get(step) ?? { count: 0, all: Promise.withResolvers<void>() };
    this.#received.set(step, waiting);
    waiting.count++;
    if (waiting.count === turn.calls.length) {
      await this.#crash(turn.waitingCrash);
      waiting.all.resolve();
    }
    await waiting.all.promise;
  }

  #callAcked(callId: string): void {
    const step = this.#steps.get(callId);
    const turn = step === undefined ? undefined : this.#turnOf(step);
    if (step === undefined || !turn?.crashAfterResult) return;
    const count = (this.#acked.get(step) ?? 0) + 1;
    this.#acked.set(step, count);
    if (count === turn.calls.length) void this.#crash('after_result');
  }

  #turnOf(step: string) {
    const [message = 0, turn = 0] = step.split('.').map(Number);
    return this.#scripted.plan.messages[message]?.[turn];
  }

  async #crash(point: CrashPoint, delayMs = 0): Promise<void> {
    this.#hits.push(point);
    const crash = this.#takeAway(point, delayMs);
    this.#crashes.push(crash);
    await crash;
  }

  async #takeAway(point: CrashPoint, delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs);
    const stub =
      point === 'tunnel_lost' ? tunnelOf(this.#bridgeId) : conversationObject(this.#conversationId);
    const isIdle = point === 'approval_waiting' || point === 'question_waiting';
    if (isIdle && this.#random.chance(0.4)) return await evictDurableObject(stub);
    await runInDurableObject(stub, (_, state) => state.abort()).catch(() => undefined);
  }

  async #check(accepted: readonly Accepted[], followers: readonly Follower[]): Promise<void> {
    await Promise.all(this.#crashes);
    const answers = new Map<string, ChatResponse>();
    for (const { responseId } of accepted) {
      const response = await this.#fetch(`chat/completions/${responseId}`);
      answers.set(responseId, await response.json());
    }
    for (const follower of followers) this.#checkFollower(follower, answers);
    for (const { status, documents } of answers.values()) {
      if (status !== 'completed' && status !== 'error') this.#problems.push(`ended as ${status}`);
      const ids = new Set(documents.map(({ id }) => id));
      if (ids.size !== documents.length) this.#problems.push('an id stands for two documents');
    }
    for (const [name, count] of this.#bridge.runs) {
      if (count !== 1) this.#problems.push(`${name} ran ${count} times`);
    }
    await this.#checkTape(accepted);
  }

  #checkFollower(follower: Follower, answers: ReadonlyMap<string, ChatResponse>): void {
    this.#problems.push(...follower.problems);
    for (const seen of follower.responses) {
      const answer = answers.get(seen.id);
      const [followed, asked] = [seen, answer].map((one) => JSON.stringify(one));
      if (followed !== asked) this.#problems.push(`followed ${followed}\n  but asked ${asked}`);
      for (const { id, content } of answer?.documents ?? []) {
        const shown = follower.whole.get(`${seen.id} ${id}`);
        if (shown !== undefined && shown !== content) {
          this.#problems.push(`${id} was shown as ${shown} and is ${content}`);
        }
      }
    }
  }

  async #checkTape(accepted: readonly Accepted[]): Promise<void> {
    const rows = await runInDurableObject(conversationObject(this.#conversationId), (_, state) =>
      state.storage.sql.exec<{ body: string }>('select body from tape order by position').toArray(),
    );
    const events = rows.flatMap(({ body }) => JSON.parse(body) as TapeEvent[]);
    const messages = events.filter(({ type }) => type === 'message').length;
    if (messages !== accepted.length) this.#problems.push(`${messages} messages are stored`);
    for (const { responseId } of accepted) {
      const ends = events.filter(
        (event) => event.type === 'done' && event.responseId === responseId,
      );
      if (ends.length !== 1) this.#problems.push(`${responseId} has ${ends.length} done`);
    }
  }

  async #fetch(path: string, body?: object, idempotencyKey?: string): Promise<Response> {
    if (this.#isOver) throw new Error('the schedule is over');
    const account = this.#account;
    const token = tokens.get(account) ?? tokenFor({ account });
    tokens.set(account, token);
    return await SELF.fetch(`https://drawbridge.test/api/v1/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${await token}`,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }
}

/** Whether the signature is good is for a bridge to say, and ours believes it. */
const YES = {
  decision: 'once',
  signature: { deviceId: newDeviceId(crypto.randomUUID()), value: 'c2lnbmVk' },
};

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** `message.turn` of the path that the model gave a call. */
function stepOf(path: string): string {
  return path.split('.').slice(0, 2).join('.');
}
