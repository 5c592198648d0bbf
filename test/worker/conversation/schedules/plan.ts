/** What happens in one schedule, decided from its seed alone: what the model does, where it all crashes, who follows. */
import { Random } from '../../../../bench/fuzz/random.ts';

/** Where a conversation's object (or, for `tunnel_lost`, its bridge's) is taken away. */
export const CRASH_POINTS = [
  'before_first_byte',
  'in_text',
  'before_turn_commit',
  'calls_out',
  'tunnel_lost',
  'approval_waiting',
  'question_waiting',
  'after_result',
  'at_the_end',
  'while_queued',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** The points that the model itself reaches: one attempt at a turn dies at each, the attempt after the last one lives. */
type ModelPoint = 'before_first_byte' | 'in_text' | 'before_turn_commit';

/** `refused`, `error_event` and `cut` end a response; `busy` is answered with 503 once, and then as `text`. */
type TurnKind = 'text' | 'calls' | 'todo' | 'question' | 'busy' | 'refused' | 'error_event' | 'cut';

export interface PlannedTurn {
  readonly kind: TurnKind;
  readonly reasoning: boolean;
  /** Paragraphs and fences of the text that comes first. */
  readonly pieces: number;
  readonly deaths: readonly ModelPoint[];
  /** Parallel calls to the bridge: which of them ask a person. */
  readonly calls: readonly { readonly asks: boolean }[];
  /** What the calls, or the question, meet while they wait. */
  readonly waitingCrash: CrashPoint | null;
  readonly crashAfterResult: boolean;
  readonly crashAtEnd: boolean;
}

export interface PlannedFollower {
  readonly follows: 'response' | 'conversation';
  /** It leaves after so many events more, once for each entry; with `cut` in the middle of a delta where it can. */
  readonly leaves: readonly { readonly afterEvents: number; readonly cut: boolean }[];
}

export interface Plan {
  readonly seed: number;
  /** One list of turns for each message; all messages are sent before the first answer begins. */
  readonly messages: readonly (readonly PlannedTurn[])[];
  readonly crashWhileQueued: boolean;
  readonly followers: readonly PlannedFollower[];
}

export function planSchedule(seed: number): Plan {
  const random = new Random(seed);
  const messages = Array.from({ length: random.chance(0.2) ? 2 : 1 }, () => planMessage(random));
  return {
    seed,
    messages,
    crashWhileQueued: messages.length > 1 && random.chance(0.6),
    followers: Array.from({ length: 1 + random.below(2) }, () => planFollower(random)),
  };
}

const MIDDLE: readonly TurnKind[] = ['calls', 'calls', 'calls', 'todo', 'question'];
const LAST: readonly TurnKind[] = [
  ...(['text', 'text', 'text', 'text', 'text', 'text'] as const),
  ...(['busy', 'refused', 'error_event', 'cut'] as const),
];

function planMessage(random: Random): PlannedTurn[] {
  const middle = Array.from({ length: random.below(3) }, () => random.pick(MIDDLE));
  return [...middle, random.pick(LAST)].map((kind) => planTurn(kind, random));
}

function planTurn(kind: TurnKind, random: Random): PlannedTurn {
  const calls = kind === 'calls' ? 1 + random.below(3) : 0;
  const asking = Array.from({ length: calls }, () => ({ asks: random.chance(0.3) }));
  return {
    kind,
    reasoning: random.chance(0.2),
    pieces: kind === 'text' || random.chance(0.4) ? 1 + random.below(4) : 0,
    deaths: random.chance(0.3) ? planDeaths(random) : [],
    calls: asking,
    waitingCrash: random.chance(0.4) ? waitingCrash(kind, asking, random) : null,
    crashAfterResult: calls > 0 && random.chance(0.2),
    crashAtEnd: kind === 'text' && random.chance(0.2),
  };
}

/** Fewer than RUN_LIMITS.maxTakeovers, so that the crash at the end of a turn can come on top. */
function planDeaths(random: Random): ModelPoint[] {
  const points = ['before_first_byte', 'in_text', 'before_turn_commit'] as const;
  return Array.from({ length: 1 + random.below(2) }, () => random.pick(points));
}

function waitingCrash(
  kind: TurnKind,
  calls: PlannedTurn['calls'],
  random: Random,
): CrashPoint | null {
  if (kind === 'question') return 'question_waiting';
  if (kind !== 'calls') return null;
  if (calls.some(({ asks }) => asks)) return 'approval_waiting';
  return random.chance(0.7) ? 'calls_out' : 'tunnel_lost';
}

function planFollower(random: Random): PlannedFollower {
  const leave = () => ({ afterEvents: 1 + random.below(12), cut: random.chance(0.5) });
  return {
    follows: random.chance(0.25) ? 'conversation' : 'response',
    leaves: Array.from({ length: random.below(3) }, leave),
  };
}
