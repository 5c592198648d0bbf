/** Splits what was said into the pieces at which a window can begin, and into messages for the model. Pure. */

import type { UpstreamMessage } from '../../../../packages/model/index.ts';
import {
  buildPlanNote,
  buildUserPrompt,
  buildWorktreeNote,
  STOPPED_NOTE,
  tagQuery,
} from '../../../../packages/prompt/index.ts';
import { type ChatMessage, imagesOf, textOf } from '../../../../shared/api/requests.ts';
import type { Toolbox } from '../../../../shared/tools/toolbox.ts';
import { openWorktree } from '../../../../shared/tools/worktree.ts';
import { ToolCallMetadata } from '../../../../shared/wire/documents.ts';
import type { Attachment } from '../../../../shared/wire/findings.ts';
import type { PlanState } from '../../../../shared/wire/plans.ts';
import type {
  Machine,
  Run,
  RunMode,
  RunRequest,
  SentResult,
  Steer,
  Turn,
  Window,
} from '../../store/rows.ts';

/** A turn with its calls' results, in call order; undefined for a call without a result. */
export interface AnsweredTurn {
  readonly turn: Turn;
  readonly results: readonly (SentResult | undefined)[];
}

/** The part of a run that matters to the model. `status` may be the one before the run's end. */
export interface SentRun extends Pick<Run, 'ordinal' | 'status' | 'request'> {
  readonly machine: Pick<Machine, 'context' | 'findings'> | null;
}

/** What was said in one run, after the first `before` turns. */
export interface SaidInRun {
  readonly run: SentRun;
  readonly before: number;
  readonly turns: readonly AnsweredTurn[];
  /** All steers of the run. */
  readonly steers: readonly Steer[];
}

export interface ModelHistory {
  /** Null while the model gets everything. */
  readonly window: Window | null;
  /** The runs from the start of the window on, in order. */
  readonly sent: readonly SaidInRun[];
  /** What the model does not get of them. */
  readonly leftOut: LeavingOut;
  /** The toolbox of the run that asks. Other runs had the same, but for the tools of their apps. */
  readonly toolbox: Toolbox;
}

/** A message of a request, or a steer. `asked` is the message that the run answers. */
export interface Utterance {
  readonly as: 'asked' | 'plain' | 'steer';
  readonly message: ChatMessage;
  /** The plan that the message brings: changed by a person, or to be executed. */
  readonly plan?: PlanState | undefined;
  /** What the mentions of a steer lead to. */
  readonly attachments?: readonly Attachment[] | undefined;
  /** Whether Drawbridge itself says it. */
  readonly isNote?: true | undefined;
}

/** Makes pieces without what a model does not get (left-out.ts). */
export interface LeavingOut {
  /** The same for the same parts. */
  readonly key: string;
  /** What was said before this run is left out; 0 for nothing. */
  readonly before: number;
  without(pieces: readonly Piece[]): readonly Piece[];
}

/** What was said before a turn, and the turn. The last piece of every run has no turn. */
export interface Piece {
  readonly run: SentRun;
  /** Turns of the run before this one. */
  readonly turns: number;
  readonly utterances: readonly Utterance[];
  readonly answered: AnsweredTurn | null;
  /** The mode in which the turn is asked for. */
  readonly mode: RunMode;
  /** The run's, which says whose the calls were. */
  readonly toolbox: Toolbox;
}

/** The pieces that are sent word for word. What was said before the window has no piece. */
export function piecesOf({
  sent,
  leftOut,
  toolbox,
}: Pick<ModelHistory, 'sent' | 'leftOut' | 'toolbox'>): readonly Piece[] {
  return leftOut.without(
    sent.flatMap((said) => piecesOfRun(said, toolbox.with(said.run.request.clientTools))),
  );
}

/** One piece more than there are turns. Linear, however many steers there were. */
function piecesOfRun({ run, before, turns, steers }: SaidInRun, toolbox: Toolbox): Piece[] {
  const places = Map.groupBy(steers, (steer) => steer.turns);
  const pieces: Piece[] = [];
  let mode = steers.findLast((steer) => isSwitchedBefore(steer, before))?.switched ?? run.request;
  for (let index = 0; index <= turns.length; index++) {
    const place = before + index;
    const utterances = place === 0 ? askedOf(run) : [];
    utterances.push(...steersAt(place));
    mode = switchAt(place) ?? mode;
    // Steers that the run ended without sending are sent to the model in the next run.
    if (index === turns.length) {
      utterances.push(...steersAt(null));
      mode = switchAt(null) ?? mode;
      const last = turns.at(-1)?.turn;
      const isOpen = utterances.length > 0 || last?.calls.length !== 0;
      if (isOpen) utterances.push(...endOf(last?.end?.status ?? run.status));
    }
    const answered = turns[index] ?? null;
    pieces.push({ run, turns: place, utterances, answered, mode, toolbox });
  }
  return pieces;

  function steersAt(place: number | null): Utterance[] {
    const sent = (places.get(place) ?? []).filter(({ switched }) => !switched);
    return sent.map(({ content, plan, isNote, attachments }) => {
      if (plan)
        return { as: 'plain', message: { role: 'user', content: buildPlanNote(plan) }, plan };
      return {
        as: isNote ? 'plain' : 'steer',
        message: { role: 'user', content },
        isNote,
        attachments,
      };
    });
  }

  function switchAt(place: number | null): RunMode | undefined {
    return places.get(place)?.findLast(({ switched }) => switched)?.switched;
  }
}

function isSwitchedBefore({ switched, turns }: Steer, before: number): boolean {
  return switched !== undefined && turns !== null && turns < before;
}

/** A last message without an answer reads like an open request. A note says that a cancelled run was stopped. */
function endOf(status: SentRun['status']): Utterance[] {
  if (status !== 'cancelled') return [];
  return [{ as: 'plain', message: { role: 'assistant', content: STOPPED_NOTE } }];
}

function askedOf({ request }: SentRun): Utterance[] {
  const messages = request.messages.filter(({ role }) => role !== 'system');
  return messages.map((message, index) =>
    index === messages.length - 1
      ? { as: 'asked', message, plan: 'plan' in request ? request.plan : undefined }
      : { as: 'plain', message },
  );
}

/** What a message is sent with. `around` precedes the words of a message that asks or steers. */
export interface MessageExtras {
  /** Whether the model gets the message's images. */
  readonly withImages: boolean;
  readonly around: readonly string[];
}

export function messageOf(
  { as, message, plan }: Utterance,
  { mode }: RunRequest,
  { withImages, around }: MessageExtras,
): UpstreamMessage {
  const text = textOf(message.content);
  switch (as) {
    case 'asked':
      return toUpstream(message, buildUserPrompt({ query: text, mode, around, plan }), withImages);
    case 'steer':
      return toUpstream(message, [...around, tagQuery(text)].join('\n\n'), withImages);
    case 'plain':
      return toUpstream(message, text, withImages);
    default:
      return as satisfies never;
  }
}

function toUpstream(message: ChatMessage, text: string, withImages: boolean): UpstreamMessage {
  if (message.role === 'assistant') return { role: 'assistant', content: text };
  const images = imagesOf(message.content);
  if (images.length === 0) return { role: 'user', content: text };
  const note = `${text}\n[${images.length} ${IMAGES_LEFT_OUT}`;
  if (!withImages) return { role: 'user', content: note.trimStart() };
  return { role: 'user', content: [{ type: 'text', text }, ...images] };
}

/** `results` has exactly one text for each call. */
export function messagesOfTurn(turn: Turn, results: readonly string[]): UpstreamMessage[] {
  const { text, calls, reasoning, reasoningDetails, own } = turn;
  if (own) return messagesOfOwn(calls[0]?.name, results[0] ?? '');
  const by = turn.model !== undefined && { by: turn.model };
  const said = {
    role: 'assistant',
    content: text,
    ...(reasoning && { reasoning }),
    ...by,
  } as const;
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

/** A message with the images of a turn's results: few servers take them in a result itself. */
export function imagesOfResults(
  { results }: Pick<AnsweredTurn, 'results'>,
  takesImages: boolean,
): UpstreamMessage[] {
  const images = results.flatMap((result) => Images.safeParse(result?.metadata).data?.images ?? []);
  if (images.length === 0) return [];
  if (!takesImages) return [{ role: 'user', content: `[${images.length} ${IMAGES_LEFT_OUT}` }];
  const parts = images.map(({ mimeType, data }) => ({
    type: 'image_url' as const,
    image_url: { url: `data:${mimeType};base64,${data}` },
  }));
  return [{ role: 'user', content: [{ type: 'text', text: RESULT_IMAGES }, ...parts] }];
}

const Images = ToolCallMetadata.pick({ images: true });
const IMAGES_LEFT_OUT = 'image(s), left out: this model takes none]';
const RESULT_IMAGES = '[The images of the results above, in their order.]';

/** The model learns where it works, and does not see calls that it never made. */
function messagesOfOwn(tool: string | undefined, result: string): UpstreamMessage[] {
  if (tool !== openWorktree.name) return [];
  return [{ role: 'user', content: buildWorktreeNote(result) }];
}
