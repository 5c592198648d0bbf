/** Plans a new window when a conversation has outgrown its model. Pure; linear in the sent history. */

import type { NewWindow, Window, WindowScale } from '../../store/rows.ts';
import { allRulesChars, wholeChars } from './around.ts';
import { digestOf, maxSummaryChars } from './digest.ts';
import { digestMessages } from './digest-message.ts';
import { WINDOW_LIMITS } from './limits.ts';
import {
  asking,
  measuredScale,
  type SentHistory,
  squeezableChars,
  type WeighedHistory,
  type WeighedPiece,
  weighHistory,
} from './messages.ts';
import { type ModelSize, roomOf, scaleOf, weigh } from './size.ts';
import type { ModelHistory } from './transcript.ts';

/** The window of a plan, once stored, always leads to `fits`: no plan directly follows another. */
export type WindowPlan =
  | FittingWindow
  | { readonly type: 'prune'; readonly window: NewWindow }
  | SummariseWindow;

export interface FittingWindow {
  readonly type: 'fits';
  /** Whether the request exceeds the model by Drawbridge's estimate and nothing can be saved. */
  readonly isOver: boolean;
}

/** Everything before `window.from` must be summarised. The window lacks only the summary's results. */
export interface SummariseWindow {
  readonly type: 'summarise';
  readonly window: Omit<NewWindow, 'digest' | 'usage'>;
  /** The room of the model, in UTF-16 units. */
  readonly room: number;
}

export interface PlanOptions {
  /** The model refused this history: from now on its room is half of that request's size. */
  readonly force?: boolean;
}

/** Whether the request leaves enough room, so that no plan is needed. */
export function isRoomy(weighed: SentHistory, size: ModelSize): boolean {
  return weighed.total <= roomOf(size, measuredScale(weighed)) * WINDOW_LIMITS.full;
}

/** Whether the request takes more than half of what the model holds. */
export function isMostlyFull(weighed: SentHistory, size: ModelSize): boolean {
  return weighed.total > roomOf(size, measuredScale(weighed)) / 2;
}

/** Plans the window for a history, which must end with the run that asks. */
export function planWindow(
  history: ModelHistory,
  size: ModelSize,
  { force = false }: PlanOptions = {},
): WindowPlan {
  const now = weighHistory(history, size);
  if (!force && isRoomy(now, size)) return { type: 'fits', isOver: false };
  return planOver(now, planningOf(now, history, size, force));
}

/** The window that begins with the run that asks. Null where nothing before it could be summarised. */
export function planCompaction(history: ModelHistory, size: ModelSize): SummariseWindow | null {
  const planning = planningOf(weighHistory(history, size), history, size, false);
  const place = placeOfRun(planning);
  return place > 0 ? cutAt(planning, place).plan : null;
}

function planningOf(
  now: WeighedHistory,
  history: ModelHistory,
  size: ModelSize,
  force: boolean,
): Planning {
  const measured = measuredScale(now);
  const sentChars = Math.min(now.total, roomOf(size, measured));
  const refused = force
    ? { model: size.model, chars: Math.floor(sentChars / 2) }
    : measured.refused;
  const scale = { tokensPerChar: measured.tokensPerChar, refused, since: newestTurn(history) };
  const room = roomOf(size, scale);
  const weighed = weighHistory(history, size, scale);
  return { history, size, weighed, scale, room };
}

/** Leaves results out first. A summary must save more than that, or the next one would follow soon. */
function planOver(now: WeighedHistory, planning: Planning): WindowPlan {
  const { weighed, room } = planning;
  const light = pruneDownTo(planning, room * WINDOW_LIMITS.pruned);
  if (light.total <= room * WINDOW_LIMITS.roomy) return pruned(planning, light);
  const worthwhile = room * WINDOW_LIMITS.minSaving;
  const summarised = summarise(planning);
  const gain = summarised ? light.total - summarised.total : 0;
  const isTooHeavy = light.total > room + squeezableChars(weighed);
  if (summarised && gain > (isTooHeavy ? 0 : worthwhile)) return summarised.plan;
  const isOver = now.total > room + squeezableChars(now);
  if (now.total - light.total > (isOver ? 0 : worthwhile)) return pruned(planning, light);
  return { type: 'fits', isOver };
}

interface Planning {
  readonly history: ModelHistory;
  readonly size: ModelSize;
  readonly weighed: WeighedHistory;
  readonly scale: WindowScale;
  readonly room: number;
}

interface Pruning {
  readonly prunedThrough: number;
  readonly total: number;
}

/** Prunes as few turns as reach the target. The newest turn keeps its results. */
function pruneDownTo({ history, weighed }: Planning, target: number): Pruning {
  const newest = newestTurn(history);
  let { total } = weighed;
  let prunedThrough = history.window?.prunedThrough ?? 0;
  for (const { piece, chars, prunedChars } of weighed.pieces) {
    const turn = piece.answered?.turn;
    if (total <= target || turn?.number === newest) break;
    if (!turn || turn.number <= prunedThrough) continue;
    total -= chars - prunedChars;
    prunedThrough = turn.number;
  }
  return { prunedThrough, total };
}

function pruned({ history, scale }: Planning, { prunedThrough }: Pruning): WindowPlan {
  const { window } = history;
  const digest = window?.digest ?? null;
  const from = window?.from ?? { run: history.sent[0]?.run.ordinal ?? 1, turns: 0 };
  return { type: 'prune', window: { from, prunedThrough, digest, usage: null, scale } };
}

interface Summarising {
  readonly plan: SummariseWindow;
  /** The size of a request under the plan, with the longest possible summary. */
  readonly total: number;
}

/** The first cut that makes the request fit, or the one that makes it smallest; null without a possible cut. */
function summarise(planning: Planning): Summarising | null {
  let best: Summarising | null = null;
  for (const place of cutsOf(planning)) {
    const cut = cutAt(planning, place);
    if (cut.total <= planning.room * WINDOW_LIMITS.full) return cut;
    if (!best || cut.total < best.total) best = cut;
  }
  return best;
}

/** The pieces at which the window could begin, the best first. None is behind the run's newest turn. */
function cutsOf(planning: Planning): number[] {
  const { weighed, room } = planning;
  const { pieces } = weighed;
  const tails = tailsOf(weighed);
  const atRun = placeOfRun(planning);
  const newest = pieces.findLastIndex(({ piece }) => piece.answered !== null);
  const deepest = Math.max(newest, atRun);
  const short = tails.findIndex((tail) => tail <= room * WINDOW_LIMITS.tail);
  const shortest = short < 0 ? deepest : Math.min(short, deepest);
  const isLong = (tails[atRun] ?? 0) > room * WINDOW_LIMITS.uncut;
  const cuts = isLong ? [] : [Math.min(shortest, atRun)];
  cuts.push(Math.max(shortest, atRun), atRun, deepest);
  return [...new Set(cuts)].filter((place) => place > 0);
}

/** The first piece of the run that asks. */
function placeOfRun({ history, weighed }: Planning): number {
  const run = asking(history)?.ordinal;
  return weighed.pieces.findIndex(({ piece }) => piece.run.ordinal === run);
}

/** The size from each piece to the end, with all results in full. */
function tailsOf({ pieces }: WeighedHistory): number[] {
  let sum = 0;
  const tails = pieces.toReversed().map(({ fullChars }) => {
    sum += fullChars;
    return sum;
  });
  return tails.reverse();
}

/** The plan with a cut at `place`. Leaves out older results where the tail, the run itself, is too long. */
function cutAt({ history, size, weighed, scale, room }: Planning, place: number): Summarising {
  const kept = weighed.pieces.slice(place);
  const newest = newestTurn(history);
  const from = placeOf(kept);
  const head = size.fixedChars + weighDigest(history, from, room) + firstChars(kept, room);
  const full = sumOf(kept, ({ fullChars }) => fullChars) + head;
  if (full <= room * WINDOW_LIMITS.full) return planned(0, full);
  const isNewest = ({ piece }: WeighedPiece) => piece.answered?.turn.number === newest;
  const light = sumOf(kept, (one) => (isNewest(one) ? one.fullChars : one.prunedChars)) + head;
  return planned(Math.max(0, newest - 1), light);

  function planned(prunedThrough: number, total: number): Summarising {
    return { plan: { type: 'summarise', window: { from, prunedThrough, scale }, room }, total };
  }
}

/** What the first message under a window has more: the full surroundings, and each rule once again. */
function firstChars(kept: readonly WeighedPiece[], room: number): number {
  const first = kept.find(({ piece }) => piece.utterances.some(({ as }) => as === 'asked'));
  const runs = new Set(kept.map(({ piece }) => piece.run));
  const rules = Math.max(0, ...[...runs].map((run) => allRulesChars(run, room)));
  return rules + (first ? wholeChars(first.piece.run, room) : 0);
}

/** Where the kept pieces begin. A run that ends with an empty piece is wholly before the window. */
function placeOf(kept: readonly WeighedPiece[]): Window['from'] {
  const first = (kept.find(({ chars }) => chars > 0) ?? kept[0])?.piece;
  return { run: first?.run.ordinal ?? 1, turns: first?.turns ?? 0 };
}

/** The size of the digest with the longest possible summary. */
function weighDigest(history: ModelHistory, from: Window['from'], room: number): number {
  const digest = digestOf(history, { window: { from }, room }, null);
  const messages = digestMessages(
    { digest: { ...digest, summary: '' }, from },
    history.sent.find(({ run }) => run.ordinal === from.run)?.run,
    room,
  );
  return weigh(messages) + maxSummaryChars(room);
}

function sumOf(pieces: readonly WeighedPiece[], chars: (piece: WeighedPiece) => number): number {
  return pieces.reduce((sum, piece) => sum + chars(piece), 0);
}

/** The number of the newest sent turn; without one, that of the newest turn before. */
function newestTurn(history: ModelHistory): number {
  const turns = history.sent.findLast(({ turns }) => turns.length > 0)?.turns;
  return turns?.at(-1)?.turn.number ?? scaleOf(history.window).since;
}
