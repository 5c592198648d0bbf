/** What was said so far, in the pieces at which a window can begin, and as messages for the model. Pure. */
import {
  type ChatMessage,
  type ContentPart,
  imagesOf,
  textOf,
} from '../../../../shared/requests.ts';
import type { Toolbox } from '../../../../shared/tools/toolbox.ts';
import { buildUserPrompt, STOPPED_NOTE, tagQuery } from '../../../prompt/context.ts';
import type { UpstreamMessage } from '../../../upstream/request.ts';
import type {
  Machine,
  Run,
  RunRequest,
  Steer,
  ToldResult,
  Turn,
  Window,
} from '../../store/rows.ts';

/** A turn with what its calls came to, in call order; undefined where a call has no result. */
export interface AnsweredTurn {
  readonly turn: Turn;
  readonly results: readonly (ToldResult | undefined)[];
}

/** What of a run matters to the model. The status may be that before the run's end, where that stands with its last turn. */
export interface ToldRun extends Pick<Run, 'ordinal' | 'status' | 'request'> {
  readonly machine: Pick<Machine, 'context'> | null;
}

/** What was said in one run, behind so many of its turns. */
export interface Told {
  readonly run: ToldRun;
  readonly before: number;
  readonly turns: readonly AnsweredTurn[];
  /** All of the run. */
  readonly steers: readonly Steer[];
}

export interface History {
  /** Null while the model is told everything. */
  readonly window: Window | null;
  /** From where the window begins, in order. */
  readonly told: readonly Told[];
  /** Of the run that asks: what the calls in all of this mean. */
  readonly toolbox: Toolbox;
}

/** A message of a request, or one that steered its run; `asked` is the one that the run answers. */
export interface Utterance {
  readonly as: 'asked' | 'told' | 'steer';
  readonly message: ChatMessage;
}

/** What was said before one turn, and the turn. Every run ends with a piece without one. */
export interface Piece {
  readonly run: ToldRun;
  /** Turns of the run before this one. */
  readonly turns: number;
  readonly utterances: readonly Utterance[];
  readonly answered: AnsweredTurn | null;
}

/** All that is told word for word: what stands before the window has no piece. */
export function piecesOf({ told }: Pick<History, 'told'>): Piece[] {
  return told.flatMap(piecesOfRun);
}

/** One more than there are turns. Linear, however many steers there were. */
function piecesOfRun({ run, before, turns, steers }: Told): Piece[] {
  const places = Map.groupBy(steers, (steer) => steer.turns);
  const pieces: Piece[] = [];
  for (let index = 0; index <= turns.length; index++) {
    const place = before + index;
    const utterances = place === 0 ? askedOf(run) : [];
    utterances.push(...steersAt(place));
    // What the run did not live to hear is heard by the next one.
    if (index === turns.length) {
      utterances.push(...steersAt(null));
      const last = turns.at(-1)?.turn;
      const isOpen = utterances.length > 0 || last?.calls.length !== 0;
      if (isOpen) utterances.push(...endOf(last?.end?.status ?? run.status));
    }
    pieces.push({ run, turns: place, utterances, answered: turns[index] ?? null });
  }
  return pieces;

  function steersAt(place: number | null): Utterance[] {
    return (places.get(place) ?? []).map(({ content }) => ({
      as: 'steer',
      message: { role: 'user', content },
    }));
  }
}

/** What stands last has no answer: it reads like a request that still waits, unless something says that it does not. */
function endOf(status: ToldRun['status']): Utterance[] {
  if (status !== 'cancelled') return [];
  return [{ as: 'told', message: { role: 'assistant', content: STOPPED_NOTE } }];
}

function askedOf({ request }: ToldRun): Utterance[] {
  const messages = request.messages.filter(({ role }) => role !== 'system');
  return messages.map((message, index) => ({
    as: index === messages.length - 1 ? 'asked' : 'told',
    message,
  }));
}

/** What a message is told with: `around` stands before the one that its run answers. */
export interface Telling {
  /** For a model that takes them. */
  readonly withImages: boolean;
  readonly around: readonly string[];
}

export function messageOf(
  { as, message }: Utterance,
  { mode }: RunRequest,
  { withImages, around }: Telling,
): UpstreamMessage {
  const text = textOf(message.content);
  switch (as) {
    case 'asked':
      return toUpstream(message, buildUserPrompt({ query: text, mode, around }), withImages);
    case 'steer':
      return toUpstream(message, tagQuery(text), withImages);
    case 'told':
      return toUpstream(message, text, withImages);
    default:
      return as satisfies never;
  }
}

/**
 * Whether a model that takes images gets those of this run's request. An upstream that refused them once would refuse
 * every message after it as well.
 */
export function showsImages({ run, before, turns }: Told): boolean {
  return run.status !== 'error' || before + turns.length > 0;
}

function toUpstream(message: ChatMessage, text: string, withImages: boolean): UpstreamMessage {
  if (message.role === 'assistant') return { role: 'assistant', content: text };
  const images = imagesOf(message.content);
  if (images.length === 0) return { role: 'user', content: text };
  const note = `${text}\n[${images.length} image(s), left out: this model takes none]`;
  if (!withImages) return { role: 'user', content: note.trimStart() };
  const parts: ContentPart[] = [{ type: 'text', text }, ...images];
  return { role: 'user', content: parts };
}

/** `results` are the texts of what its calls came to, one for each: no call goes without, and none has two. */
export function messagesOfTurn(
  { text, calls, reasoning, reasoningDetails }: Turn,
  results: readonly string[],
): UpstreamMessage[] {
  const said = { role: 'assistant', content: text, ...(reasoning && { reasoning }) } as const;
  if (calls.length === 0) return text === '' ? [] : [said];
  return [
    {
      ...said,
      ...(reasoningDetails && { reasoning_details: reasoningDetails }),
      tool_calls: calls.map((call) => ({
        ...call.extra,
        id: call.upstreamId,
        type: 'function' as const,
        function: {
          name: call.name,
          arguments: call.rawArguments.trim() === '' ? '{}' : call.rawArguments,
        },
      })),
    },
    ...calls.map((call, index) => ({
      role: 'tool' as const,
      tool_call_id: call.upstreamId,
      content: results[index] ?? '',
    })),
  ];
}
