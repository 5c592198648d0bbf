/** When a conversation has outgrown its model, and what becomes of it then. Pure; linear in what is told. */

import type { NewWindow, Window, WindowScale } from '../../store/rows.ts';
import { wholeChars } from './around.ts';
import { digestOf, maxSummaryChars } from './digest.ts';
import { digestMessages } from './digest-message.ts';
import { WINDOW_LIMITS } from './limits.ts';
import { type ModelSize, roomOf, scaleOf, weigh } from './size.ts';
import {
  asking,
  measuredScale,
  squeezableChars,
  type ToldHistory,
  type WeighedHistory,
  type WeighedPiece,
  weighHistory,
} from './telling.ts';
import type { History } from './transcript.ts';

/** Stored and told, the window of a plan leads to `fits`: no plan follows another at once. */
export type WindowPlan =
  | FittingWindow
  | { readonly type: 'prune'; readonly window: NewWindow }
  | SummariseWindow;

export interface FittingWindow {
  readonly type: 'fits';
  /** By our estimate it is more than the model can take, and nothing can be saved. */
  readonly isOver: boolean;
}

/** Everything before `window.from` is to be summarised; the window lacks only what comes of that. */
export interface SummariseWindow {
  readonly type: 'summarise';
  readonly window: Omit<NewWindow, 'digest' | 'usage'>;
  /** UTF-16 units that the model has room for. */
  readonly room: number;
}

export interface PlanOptions {
  /** The model refused the request that this history came to: it is taken to have half of that room from now on. */
  readonly force?: boolean;
}

/** Whether there is nothing to plan: a request leaves room enough. */
export function isRoomy(told: ToldHistory, size: ModelSize): boolean {
  return told.total <= roomOf(size, measuredScale(told)) * WINDOW_LIMITS.full;
}

/** The history ends with the run that asks. */
export function planWindow(
  history: History,
  size: ModelSize,
  { force = false }: PlanOptions = {},
): WindowPlan {
  const now = weighHistory(history, size);
  if (!force && isRoomy(now, size)) return { type: 'fits', isOver: false };
  const measured = measuredScale(now);
  const sent = Math.min(now.total, roomOf(size, measured));
  const refused = force ? { model: size.model, chars: Math.floor(sent / 2) } : measured.refused;
  const scale = { tokensPerChar: measured.tokensPerChar, refused, since: newestTurn(history) };
  const room = roomOf(size, scale);
  const told = weighHistory(history, size, scale);
  return planOver(now, { history, size, told, scale, room });
}

/** Results go first. A summary must save more than that does, or else the next one would follow soon. */
function planOver(now: WeighedHistory, planning: Planning): WindowPlan {
  const { told, room } = planning;
  const light = pruneDownTo(planning, room * WINDOW_LIMITS.pruned);
  if (light.total <= room * WINDOW_LIMITS.roomy) return pruned(planning, light);
  const worthwhile = room * WINDOW_LIMITS.minSaving;
  const summarised = summarise(planning);
  const gain = summarised ? light.total - summarised.total : 0;
  const isTooHeavy = light.total > room + squeezableChars(told);
  if (summarised && gain > (isTooHeavy ? 0 : worthwhile)) return summarised.plan;
  const isOver = now.total > room + squeezableChars(now);
  if (now.total - light.total > (isOver ? 0 : worthwhile)) return pruned(planning, light);
  return { type: 'fits', isOver };
}

interface Planning {
  readonly history: History;
  readonly size: ModelSize;
  readonly told: WeighedHistory;
  /** That of the new window. */
  readonly scale: WindowScale;
  readonly room: number;
}

interface Pruning {
  readonly prunedThrough: number;
  readonly total: number;
}

/** As few turns as lead down to the target; the newest one keeps its results. */
function pruneDownTo({ history, told }: Planning, target: number): Pruning {
  const newest = newestTurn(history);
  let { total } = told;
  let prunedThrough = history.window?.prunedThrough ?? 0;
  for (const { piece, chars, prunedChars } of told.pieces) {
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
  const from = window?.from ?? { run: history.told[0]?.run.ordinal ?? 1, turns: 0 };
  return { type: 'prune', window: { from, prunedThrough, digest, usage: null, scale } };
}

interface Summarising {
  readonly plan: SummariseWindow;
  /** What a request weighs under it, with the longest summary that there can be. */
  readonly total: number;
}

/** The first cut that makes the request fit, or the one that makes it smallest; null where there is nothing to cut. */
function summarise(planning: Planning): Summarising | null {
  let best: Summarising | null = null;
  for (const place of cutsOf(planning)) {
    const cut = cutAt(planning, place);
    if (cut.total <= planning.room * WINDOW_LIMITS.full) return cut;
    if (!best || cut.total < best.total) best = cut;
  }
  return best;
}

/** Places among the pieces at which the window could begin, the best one first; never behind the run's newest turn. */
function cutsOf({ history, told, room }: Planning): number[] {
  const { pieces } = told;
  const tails = tailsOf(told);
  const run = asking(history)?.ordinal;
  const atRun = pieces.findIndex(({ piece }) => piece.run.ordinal === run);
  const newest = pieces.findLastIndex(({ piece }) => piece.answered !== null);
  const deepest = Math.max(newest, atRun);
  const short = tails.findIndex((tail) => tail <= room * WINDOW_LIMITS.tail);
  const shortest = short < 0 ? deepest : Math.min(short, deepest);
  const isLong = (tails[atRun] ?? 0) > room * WINDOW_LIMITS.uncut;
  const cuts = isLong ? [] : [Math.min(shortest, atRun)];
  cuts.push(Math.max(shortest, atRun), atRun, deepest);
  return [...new Set(cuts)].filter((place) => place > 0);
}

/** What stands from each piece on, with all results in full. */
function tailsOf({ pieces }: WeighedHistory): number[] {
  let sum = 0;
  const tails = pieces.toReversed().map(({ fullChars }) => {
    sum += fullChars;
    return sum;
  });
  return tails.reverse();
}

/** The tail as it is; where that is too long, because the run is not to be cut, without its older results. */
function cutAt({ history, size, told, scale, room }: Planning, place: number): Summarising {
  const kept = told.pieces.slice(place);
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

/** What was a difference is told in full by the first message under the window. */
function firstChars(kept: readonly WeighedPiece[], room: number): number {
  const first = kept.find(({ piece }) => piece.utterances.some(({ as }) => as === 'asked'));
  return first ? wholeChars(first.piece.run, room) : 0;
}

/** A run whose end said nothing more is behind the window as a whole. */
function placeOf(kept: readonly WeighedPiece[]): Window['from'] {
  const first = (kept.find(({ chars }) => chars > 0) ?? kept[0])?.piece;
  return { run: first?.run.ordinal ?? 1, turns: first?.turns ?? 0 };
}

/** With the longest summary that there can be. */
function weighDigest(history: History, from: Window['from'], room: number): number {
  const digest = digestOf(history, { window: { from }, room }, null);
  const messages = digestMessages(
    { digest: { ...digest, summary: '' }, from },
    history.told.find(({ run }) => run.ordinal === from.run)?.run,
    room,
  );
  return weigh(messages) + maxSummaryChars(room);
}

function sumOf(pieces: readonly WeighedPiece[], chars: (piece: WeighedPiece) => number): number {
  return pieces.reduce((sum, piece) => sum + chars(piece), 0);
}

/** Its number; where no turn is told, that of the newest one before. */
function newestTurn(history: History): number {
  const turns = history.told.findLast((told) => told.turns.length > 0)?.turns;
  return turns?.at(-1)?.turn.number ?? scaleOf(history.window).since;
}
