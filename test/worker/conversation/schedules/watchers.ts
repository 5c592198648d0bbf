/** All who follow one schedule. */
import type { StreamEvent } from '../../../../shared/wire/events.ts';
import { Follower } from './follower.ts';
import { Person } from './person.ts';
import type { PlannedFollower } from './plan.ts';
import type { Accepted, Sender } from './sender.ts';
import type { Stage } from './stage.ts';

/** What the conversation has come to, once no more messages are sent. */
export interface Final {
  readonly started: readonly string[];
  /** Also those that were cancelled while they waited. */
  readonly all: readonly string[];
}

export class Watchers {
  readonly followers: Follower[] = [];
  readonly #stage: Stage;
  readonly #sender: Sender;
  readonly #person: Person;
  readonly #closing = new AbortController();
  #final: Final | null = null;

  constructor(stage: Stage, sender: Sender) {
    this.#stage = stage;
    this.#sender = sender;
    this.#person = new Person(stage);
  }

  /** Reads the answer to a message to its end, leaving as the plan's first follower does. */
  async followSent({ responseId, stream }: Accepted): Promise<void> {
    const leaves = this.#stage.plan.followers[0]?.leaves ?? [];
    const transport = this.#stage.plan.followers[0]?.transport ?? 'sse';
    const plan = { follows: 'response', transport, acksEach: 1, leaves } as const;
    await this.#followOne(plan, responseId).follow(stream);
  }

  /** Follows from the start: one of the responses, or everything until {@link close}. */
  async followAgain(planned: PlannedFollower): Promise<void> {
    const follower =
      planned.follows === 'conversation'
        ? this.#followAll(planned)
        : this.#followOne(planned, this.#stage.random.pick(this.#sender.responseIds));
    await follower.follow();
  }

  /** From now on nothing new begins: who follows everything ends when it has seen this. */
  close(final: Final): void {
    this.#final = final;
    this.#closing.abort();
  }

  #followOne(planned: PlannedFollower, responseId: string): Follower {
    return this.#newFollower(planned, `chat/completions/${responseId}/events`, {
      isOver: (ended) => ended.has(responseId),
      closing: new AbortController().signal,
    });
  }

  #followAll(planned: PlannedFollower): Follower {
    return this.#newFollower(planned, `conversations/${this.#stage.conversationId}/events`, {
      isOver: (ended, hadSnapshot) => {
        const awaited = hadSnapshot ? this.#final?.started : this.#final?.all;
        return awaited?.every((id) => ended.has(id)) ?? false;
      },
      closing: this.#closing.signal,
    });
  }

  #newFollower(
    planned: PlannedFollower,
    path: string,
    until: Pick<ConstructorParameters<typeof Follower>[1], 'isOver' | 'closing'>,
  ): Follower {
    const upgrade = planned.transport === 'socket';
    this.#stage.count(upgrade ? 'WebSocket followers' : 'SSE followers');
    const follower = new Follower(planned, {
      ...until,
      open: (cursor) => this.#stage.device.fetch(`${path}?after=${cursor}`, { upgrade }),
      seen: (event, current) => this.#seen(event, current),
      cut: () => this.#stage.count('cursors inside a delta'),
    });
    this.followers.push(follower);
    return follower;
  }

  #seen(event: StreamEvent, responseId: string): void {
    if (event.type === 'snapshot') this.#stage.count('snapshots');
    this.#stage.moments.pass('event');
    this.#person.see(event, responseId);
  }
}
