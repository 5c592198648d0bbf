/** Turns a history into the messages that the model gets, and computes their sizes. Pure. */

import type { UpstreamMessage } from '../../../../packages/model/index.ts';
import type { Window, WindowScale } from '../../store/rows.ts';
import { aroundPieces, aroundSteer, type KnownAround, knownAtStart } from './around.ts';
import { digestMessages } from './digest-message.ts';
import { WINDOW_LIMITS } from './limits.ts';
import { fullLength, lengthOf, prunedTexts, resultTexts } from './results.ts';
import { isWhole, type ModelSize, roomOf, scaleOf, tokensPerChar, weigh } from './size.ts';
import {
  imagesOfResults,
  type ModelHistory,
  messageOf,
  messagesOfTurn,
  type Piece,
  piecesOf,
  type SentRun,
  type Utterance,
} from './transcript.ts';

/** The messages besides the system prompt. The newest results are cut where the messages exceed the model's room. */
export function messagesOfHistory(history: ModelHistory, size: ModelSize): UpstreamMessage[] {
  const sent = weighHistory(history, size);
  const excess = sent.total - roomOf(size, measuredScale(sent));
  const newest = sent.pieces.findLast(({ turn }) => turn !== null);
  if (!newest || excess <= 0) return messagesIn(sent);
  const pieces = sent.pieces.map((one) => (one === newest ? squeezed(one, excess) : one));
  return messagesIn({ ...sent, pieces });
}

/** All messages, the digest first. */
export function messagesIn({ digest, pieces }: SentHistory): UpstreamMessage[] {
  return [...digest, ...pieces.flatMap(({ messages }) => messages)];
}

/** The piece with its results shortened by `excess` UTF-16 units in all. */
function squeezed(weighed: WeighedPiece, excess: number): WeighedPiece {
  const { piece, said, messages } = weighed;
  if (!piece.answered) return weighed;
  const chars = resultsIn(messages).reduce((sum, length) => sum + length, 0);
  const texts = resultTexts(piece.answered, chars - excess);
  return { ...weighed, messages: [...said, ...messagesOfTurn(piece.answered.turn, texts)] };
}

/** The UTF-16 units by which the newest results can be shortened to make a request fit. */
export function squeezableChars({ pieces }: WeighedHistory): number {
  const newest = pieces.findLast(({ turn }) => turn !== null);
  return resultsIn(newest?.messages ?? []).reduce(
    (sum, length) => sum + Math.max(0, length - WINDOW_LIMITS.minResultChars),
    0,
  );
}

function resultsIn(messages: readonly UpstreamMessage[]): number[] {
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content?.length ?? 0);
}

/** A piece as the model gets it, with its size in UTF-16 units. */
export interface SentPiece {
  readonly messages: readonly UpstreamMessage[];
  /** `saidChars` is the size of what was said before its turn, `chars` that of the whole piece. */
  readonly saidChars: number;
  readonly chars: number;
  /** Its turn, and the tokens of the prompt that the turn answered, 0 where unknown; null without a turn. */
  readonly turn: { readonly number: number; readonly promptTokens: number } | null;
}

/** What a request shows besides the system prompt. */
export interface SentHistory {
  readonly window: Window | null;
  readonly digest: readonly UpstreamMessage[];
  readonly pieces: readonly SentPiece[];
  /** UTF-16 units of the whole request, with the system prompt and the tools. */
  readonly total: number;
}

/** A piece with all sizes that a plan needs. */
export interface WeighedPiece extends SentPiece {
  readonly piece: Piece;
  /** What the model had seen of the machine, the editor and the rules before the piece. */
  readonly known: KnownAround;
  /** The messages before the turn. */
  readonly said: readonly UpstreamMessage[];
  /** The UTF-16 units of the piece with its results in full, and with them left out. */
  readonly fullChars: number;
  readonly prunedChars: number;
}

export interface WeighedHistory extends SentHistory {
  readonly pieces: readonly WeighedPiece[];
}

/** `scale` bounds the results of one turn. It is the window's, or a plan's for its next window. */
export function weighHistory(
  history: ModelHistory,
  size: ModelSize,
  scale: WindowScale = scaleOf(history.window),
): WeighedHistory {
  const room = roomOf(size, scale);
  const { window } = history;
  const pieces = weighPieces(history, size, { room, known: knownAtStart(window) });
  return withHead(pieces, { window, first: firstOf(history), size, room });
}

/** The run in which the window begins; undefined without runs. */
export function firstOf({ sent }: Pick<ModelHistory, 'sent'>): SentRun | undefined {
  return sent[0]?.run;
}

/** What a digest message depends on. */
export interface DigestOccasion {
  readonly window: Window | null;
  readonly first: SentRun | undefined;
  readonly size: ModelSize;
  readonly room: number;
}

/** The pieces together with everything before them. */
export function withHead<One extends SentPiece>(
  pieces: readonly One[],
  { window, first, size, room }: DigestOccasion,
): SentHistory & { readonly pieces: readonly One[] } {
  const digest = digestMessages(window, first, room);
  const head = size.fixedChars + weigh(digest);
  const total = pieces.reduce((sum, { chars }) => sum + chars, head);
  return { window, digest, pieces, total };
}

/** What pieces depend on besides their rows. */
export interface PieceStanding {
  /** Bounds the length of the results of one turn. */
  readonly room: number;
  /** What the model saw of the machine, the editor and the rules before the first piece. */
  readonly known: KnownAround;
}

export function weighPieces(
  { window, sent, toolbox, leftOut }: ModelHistory,
  { takesImages, modeWords }: Pick<ModelSize, 'takesImages' | 'modeWords'>,
  { room, known }: PieceStanding,
): WeighedPiece[] {
  const prunedThrough = window?.prunedThrough ?? 0;
  const listening = { room, modeWords };
  return aroundPieces(piecesOf({ sent, leftOut, toolbox }), known, listening).map((one) => {
    const { piece, around, midway } = one;
    const aroundOne = ({ as, attachments }: Utterance) =>
      as === 'steer' ? aroundSteer(attachments, piece.run, { room, known: one.known }) : around;
    const said = piece.utterances.map((utterance) =>
      messageOf(utterance, piece.run.request, {
        withImages: takesImages,
        around: aroundOne(utterance),
      }),
    );
    if (midway !== null) said.unshift({ role: 'user', content: midway });
    const weighing = { prunedThrough, room, takesImages };
    return { ...weighPiece(piece, said, weighing), known: one.known };
  });
}

interface Weighing {
  readonly prunedThrough: number;
  /** Bounds the length of the results of one turn. */
  readonly room: number;
  readonly takesImages: boolean;
}

function weighPiece(
  piece: Piece,
  said: UpstreamMessage[],
  { prunedThrough, room, takesImages }: Weighing,
): Omit<WeighedPiece, 'known'> {
  const saidChars = weigh(said);
  const { answered } = piece;
  if (!answered) {
    const chars = { saidChars, chars: saidChars, fullChars: saidChars, prunedChars: saidChars };
    return { piece, said, messages: said, turn: null, ...chars };
  }
  const { number, usage, own } = answered.turn;
  const maxChars = Math.floor(room * WINDOW_LIMITS.turnResults);
  const pruned = prunedTexts(answered, piece.toolbox);
  const texts = number <= prunedThrough ? pruned : resultTexts(answered, maxChars);
  const messages = messagesOfTurn(answered.turn, own ? resultTexts(answered, maxChars) : texts);
  if (own) {
    const chars = saidChars + weigh(messages);
    const turn = { number, promptTokens: 0 };
    const whole = { saidChars, chars, fullChars: chars, prunedChars: chars };
    return { piece, said, messages: [...said, ...messages], turn, ...whole };
  }
  const images = number > prunedThrough ? imagesOfResults(answered, takesImages) : [];
  const pruning = saidChars + weigh(messages) - lengthOf(texts);
  const besides = pruning + weigh(images);
  return {
    piece,
    said,
    messages: [...said, ...messages, ...images],
    saidChars,
    chars: besides + lengthOf(texts),
    fullChars: besides + fullLength(answered, maxChars),
    prunedChars: pruning + lengthOf(pruned),
    turn: { number, promptTokens: usage?.promptTokens ?? 0 },
  };
}

/** The run that asks, which is the last one sent; undefined without runs. */
export function asking({ sent }: ModelHistory): SentRun | undefined {
  return sent.at(-1)?.run;
}

/** The scale that the newest turn measured, or the window's where no turn reported a possible number of tokens. */
export function measuredScale({ window, pieces, total }: SentHistory): WindowScale {
  const scale = scaleOf(window);
  const place = pieces.findLastIndex(({ turn }) => {
    return turn !== null && turn.promptTokens > 0 && turn.number > scale.since;
  });
  const { turn, saidChars } = pieces[place] ?? { turn: null, saidChars: 0 };
  if (!turn) return scale;
  const before = pieces.slice(place).reduce((left, { chars }) => left - chars, total);
  const { promptTokens } = turn;
  if (!isWhole(promptTokens, before + saidChars)) return scale;
  return { ...scale, tokensPerChar: tokensPerChar(promptTokens, before + saidChars) };
}
