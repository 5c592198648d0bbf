/** What happens in one schedule, decided from its seed alone: what the model does, where it all crashes, who does what. */
import { Random } from '../../../../bench/fuzz/random.ts';
import type { Delivery } from '../../../../shared/api/requests.ts';
import { type Moment, planMoment } from './moments.ts';
import type { CopyPoint } from './points.ts';
import { type PlannedTurn, planQuietTurns, planTurns } from './turns.ts';

/** Where a reader goes away: after so many events more. */
export interface PlannedLeave {
  readonly afterEvents: number;
  /** Of a delta it meets there it takes this part, from 0 to 1; null for the whole of it. */
  readonly cut: number | null;
}

export interface PlannedFollower {
  readonly follows: 'response' | 'conversation';
  readonly transport: 'sse' | 'socket';
  /** Over a socket: it acknowledges each so many messages. */
  readonly acksEach: number;
  readonly leaves: readonly PlannedLeave[];
}

/** A message that is sent while others are answered; `message` is its number in {@link Plan.messages}. */
export interface PlannedMessage {
  readonly message: number;
  readonly moment: Moment;
  readonly delivery: Delivery;
  /** Whether the conversation's object is lost while the message is on its way. */
  readonly crashes: boolean;
}

/** A request that is sent again with its key. */
export interface PlannedDuplicate {
  readonly moment: Moment;
  readonly crashes: boolean;
  /** Whether the answer is read to its end, or left at once. */
  readonly follows: boolean;
}

export interface PlannedFork {
  readonly moment: Moment;
  readonly crash: CopyPoint | null;
  /** The message that the copy is continued with. */
  readonly message: number;
}

export interface Plan {
  readonly seed: number;
  /** The model's turns for each message, by the number that the message names. */
  readonly messages: readonly (readonly PlannedTurn[])[];
  /** So many of them are sent before the first answer begins. */
  readonly first: number;
  readonly crashWhileQueued: boolean;
  /** When everything has finished, and only those are there who follow everything. */
  readonly crashAtRest: boolean;
  readonly followers: readonly PlannedFollower[];
  readonly late: readonly PlannedMessage[];
  readonly cancels: readonly Moment[];
  readonly duplicates: readonly PlannedDuplicate[];
  readonly forks: readonly PlannedFork[];
}

export function planSchedule(seed: number): Plan {
  const random = new Random(seed);
  const messages: PlannedTurn[][] = [];
  const add = (turns: PlannedTurn[]) => messages.push(turns) - 1;
  const first = random.chance(0.2) ? 2 : 1;
  for (let index = 0; index < first; index++) add(planTurns(random));
  return {
    seed,
    messages,
    first,
    crashWhileQueued: first > 1 && random.chance(0.6),
    crashAtRest: random.chance(0.12),
    followers: times(1 + random.below(2), () => planFollower(random)),
    late: times(random.chance(0.25) ? 1 + random.below(2) : 0, () => ({
      message: add(planTurns(random)),
      moment: planMoment(random),
      delivery: random.pick(DELIVERIES),
      crashes: random.chance(0.3),
    })),
    cancels: times(random.chance(0.25) ? 1 + random.below(2) : 0, () => planMoment(random)),
    duplicates: times(random.chance(0.2) ? 1 + random.below(2) : 0, () => ({
      moment: planMoment(random),
      crashes: random.chance(0.3),
      follows: random.chance(0.5),
    })),
    forks: times(random.chance(0.12) ? 1 : 0, () => ({
      moment: planMoment(random),
      crash: random.pick([null, 'fork_source', 'fork_copy']),
      message: add(planQuietTurns(random)),
    })),
  };
}

const DELIVERIES: readonly Delivery[] = ['queue', 'steer', 'steer', 'interrupt', 'reject'];

function planFollower(random: Random): PlannedFollower {
  return {
    follows: random.chance(0.25) ? 'conversation' : 'response',
    transport: random.chance(0.4) ? 'socket' : 'sse',
    acksEach: 1 + random.below(3),
    leaves: times(random.below(3), () => ({
      afterEvents: 1 + random.below(12),
      cut: random.chance(0.5) ? random.fraction() : null,
    })),
  };
}

function times<Item>(length: number, make: () => Item): Item[] {
  return Array.from({ length }, make);
}
