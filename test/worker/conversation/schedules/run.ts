/** One schedule from its first message to what it must have come to. */
import type { ChatResponse, ConversationView } from '../../../../shared/wire/documents.ts';
import { Actions } from './actions.ts';
import { CountingBridge } from './bridge.ts';
import { CallGate } from './call-gate.ts';
import { checkAnswers, checkCancels, checkFollower, checkMessages, type Ending } from './checks.ts';
import type { DoomedCopy } from './copies.ts';
import { Forks } from './forks.ts';
import type { Scripted } from './model.ts';
import type { CrashPoint, Ingredient } from './points.ts';
import { type Accepted, Sender } from './sender.ts';
import { Stage } from './stage.ts';
import { checkTape } from './tape-check.ts';
import { Watchers } from './watchers.ts';

/** Everything that was wrong, and how often each thing happened. */
export interface Outcome {
  readonly problems: readonly string[];
  readonly counted: readonly (CrashPoint | Ingredient)[];
}

export class ScheduleRun {
  readonly #scripted: Scripted;
  readonly #stage: Stage;
  readonly #bridge: CountingBridge;
  readonly #sender: Sender;
  readonly #watchers: Watchers;
  readonly #actions: Actions;
  readonly #forks: Forks;

  /** `doomed` is shared by all schedules: the copies that are to crash. */
  constructor(scripted: Scripted, doomed: Map<string, DoomedCopy>) {
    const stage = new Stage(scripted);
    this.#scripted = scripted;
    this.#stage = stage;
    this.#bridge = new CountingBridge(stage.device.account, stage.bridgeId, new CallGate(stage));
    this.#sender = new Sender(stage);
    this.#watchers = new Watchers(stage, this.#sender);
    const follow = (accepted: Accepted) => this.#watchers.followSent(accepted);
    this.#actions = new Actions(stage, this.#sender, follow);
    this.#forks = new Forks(stage, this.#sender, doomed);
  }

  /** Resolves also when it is stuck, with that as a problem. */
  async run(limitMs: number): Promise<Outcome> {
    const { device, problems, counted, crashes } = this.#stage;
    const late = Promise.withResolvers<'stuck'>();
    const timer = setTimeout(() => late.resolve('stuck'), limitMs);
    const played = this.#play().catch((error: unknown) => {
      problems.push(`threw ${error instanceof Error ? error.stack : String(error)}`);
    });
    if ((await Promise.race([played, late.promise])) === 'stuck')
      problems.push(`waits for ever for ${this.#stage.underWay}`);
    clearTimeout(timer);
    this.#scripted.isOver = true;
    device.end();
    this.#bridge.leave();
    return { problems: [...problems], counted: [...counted, ...crashes.hits] };
  }

  /** Makes the crashes that the model or a copy has come to; to be called every few milliseconds. */
  grantWishes(): void {
    this.#stage.crashes.look();
    for (const point of this.#scripted.wishes.splice(0)) {
      const copyId = point === 'fork_copy' ? this.#forks.copyId : undefined;
      void this.#stage.crashes.make(point, copyId);
    }
  }

  async #play(): Promise<void> {
    const { plan, crashes, moments } = this.#stage;
    if (this.#sender.needsBridge) await this.#bridge.connect();
    const first: Accepted[] = [];
    for (let message = 0; message < plan.first; message++) {
      const accepted = await this.#sender.send(message, 'queue');
      if (accepted) first.push(accepted);
    }
    if (plan.crashWhileQueued) await crashes.make('while_queued');
    this.#scripted.mayAnswer = true;
    const following = this.#start('a first answer', first, (accepted) =>
      this.#watchers.followSent(accepted),
    );
    const others = this.#start('a follower', plan.followers, (planned) =>
      this.#watchers.followAgain(planned),
    );
    const actions = [
      this.#start('a late message', plan.late, (planned) => this.#actions.sendLate(planned)),
      this.#start('a duplicate', plan.duplicates, (planned) => this.#actions.sendAgain(planned)),
      this.#start('a cancel', plan.cancels, (moment) => this.#actions.cancel(moment)),
      this.#start('a fork', plan.forks, (planned) => this.#forks.make(planned)),
    ].flat();
    const ended = Promise.all(following).then(() => moments.end());
    await Promise.all([ended, ...actions]);
    await crashes.settled();
    if (plan.crashAtRest) await crashes.make('at_rest');
    await this.#finish(others);
  }

  #start<Planned>(
    name: string,
    all: readonly Planned[],
    begin: (planned: Planned) => Promise<void>,
  ): Promise<void>[] {
    return all.map((planned) =>
      this.#stage.watch(`${name} ${JSON.stringify(planned)}`, begin(planned)),
    );
  }

  /** Everything has finished: what did it come to, and have all seen it? */
  async #finish(others: readonly Promise<void>[]): Promise<void> {
    const { device, conversationId, crashes, problems } = this.#stage;
    const view = await device.read<ConversationView>(`conversations/${conversationId}`);
    const { responseIds, accepted, interrupting } = this.#sender;
    this.#watchers.close({ started: view.responses.map(({ id }) => id), all: responseIds });
    await Promise.all(others);
    const answers = new Map<string, ChatResponse>();
    for (const id of responseIds) answers.set(id, await device.read(`chat/completions/${id}`));
    this.#check({
      scripted: this.#scripted,
      accepted,
      answers,
      view,
      interrupting: [...interrupting].filter((message) => accepted.has(message)).length,
      cancels: this.#actions.cancels,
      crashes: crashes.hits.length,
    });
    problems.push(...(await checkTape(conversationId, responseIds)));
    this.#forks.check(view);
  }

  #check(ending: Ending): void {
    const { problems } = this.#stage;
    for (const { status } of ending.answers.values()) {
      if (status === 'cancelled') this.#stage.count('ended as cancelled');
    }
    problems.push(...checkAnswers(ending), ...checkCancels(ending), ...checkMessages(ending));
    for (const follower of this.#watchers.followers) {
      problems.push(...checkFollower(follower, ending));
    }
    for (const [name, count] of this.#bridge.runs) {
      if (count !== 1) problems.push(`${name} ran ${count} times`);
    }
  }
}
