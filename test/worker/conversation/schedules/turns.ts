/** What the model does for one message, decided from the seed alone. */
import type { Random } from '../../../../bench/fuzz/random.ts';
import type { CrashPoint, ModelPoint } from './points.ts';

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

const MIDDLE: readonly TurnKind[] = ['calls', 'calls', 'calls', 'todo', 'question'];
const LAST: readonly TurnKind[] = [
  ...(['text', 'text', 'text', 'text', 'text', 'text'] as const),
  ...(['busy', 'refused', 'error_event', 'cut'] as const),
];

/** All the turns that the model answers one message with, if no one interferes. */
export function planTurns(random: Random): PlannedTurn[] {
  const middle = Array.from({ length: random.below(3) }, () => random.pick(MIDDLE));
  return [...middle, random.pick(LAST)].map((kind) => planTurn(kind, random));
}

/** Text that nothing comes between. */
export function planQuietTurns(random: Random): PlannedTurn[] {
  const nothing = { reasoning: false, deaths: [], calls: [], waitingCrash: null } as const;
  const pieces = 1 + random.below(2);
  return [{ ...nothing, kind: 'text', pieces, crashAfterResult: false, crashAtEnd: false }];
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
