/** Tools of the app that asks: the run waits for their results. The id of a call names its response and document. */
import * as z from 'zod';
import type { AppResult, GivenResults } from '../../shared/api/app-results.ts';
import { ContentPart } from '../../shared/api/requests.ts';
import { documentIdOf, ResponseId } from '../../shared/ids.ts';
import { REQUEST_LIMITS, RUN_LIMITS } from '../../shared/limits.ts';
import { MIB } from '../../shared/units.ts';
import { AppToolForm, type Document, ResultImage } from '../../shared/wire/documents.ts';
import { heldIn, type WaitingImages } from '../../worker/door-reading.ts';
import {
  type AskedMessages,
  checkAdded,
  type Divided,
  isOfUser,
  isResult,
  resultsFrom,
  saidIn,
  toAsked,
} from './added.ts';
import { CUSTOM_INPUT } from './brought-tools.ts';
import { fieldsOf, ownPart, wordsOf } from './history.ts';

/** A result as an app gives it: text, or parts of any type. */
export const Output = z
  .union([z.string(), z.array(z.looseObject({ type: z.string() }))])
  .refine((output) => wordsOf(output).length <= REQUEST_LIMITS.maxMessageChars, 'Too long');

/**
 * Text and images. A note stands for all else, and for images that are too large, for one result or for `room`, which
 * holds the characters that all results may take.
 */
function resultOf(output: z.infer<typeof Output>, room: { left: number }): AppResult {
  if (typeof output === 'string') return { text: output };
  let left = Math.min(room.left, RUN_LIMITS.maxResultMetadataBytes - ROOM_FOR_NAMES);
  const before = left;
  const images: ResultImage[] = [];
  const rest = output.filter((part) => {
    const image = imageIn(part);
    const chars = heldIn(image?.data ?? '')?.chars ?? image?.data.length ?? 0;
    if (!image || chars > left) return true;
    left -= chars;
    images.push(image);
    return false;
  });
  room.left -= before - left;
  return { text: wordsOf(rest), ...(images.length > 0 && { images }) };
}

/** The results with the content of their images, which their rows have. @throws as {@link WaitingImages.contentOf} */
export async function withContent(
  results: GivenResults['results'],
  spool: WaitingImages | undefined,
): Promise<GivenResults['results']> {
  const whole = async (image: ResultImage): Promise<ResultImage> => {
    const held = heldIn(image.data);
    return held && spool ? { ...image, data: await spool.contentOf(held) } : image;
  };
  const filled = Object.entries(results).map(async ([id, { text, images }]) => {
    const read = images && (await Promise.all(images.map(whole)));
    return [id, { text, ...(read && { images: read }) }] as const;
  });
  return Object.fromEntries(await Promise.all(filled));
}

/** Characters of the images of all results of a request: RPC takes 32 MiB. */
const MAX_RESULT_CHARS = 16 * MIB;

/** Bytes of a result's metadata beside its images. */
const ROOM_FOR_NAMES = 10_000;

/** The image of a part that holds one itself; undefined for an address, and for any other part. */
function imageIn(part: unknown): ResultImage | undefined {
  const own = ContentPart.safeParse(ownPart(fieldsOf(part))).data;
  if (own?.type !== 'image_url') return undefined;
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(own.image_url.url) ?? [];
  return ResultImage.safeParse({ mimeType, data }).data;
}

/** The results of the calls that an answer ended with. */
export interface CallResults extends GivenResults {
  readonly responseId: string;
  /** What is asked where the run waits no more; undefined where nothing is said behind the results. */
  readonly otherwise?: AskedMessages | undefined;
}

/** A call as the app gets it. */
export interface ClientCall {
  readonly id: string;
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string | undefined;
  /** JSON, or the text of a custom tool. */
  readonly arguments: string;
}

/** The calls that these documents wait for. */
export function toClientCalls(responseId: string, documents: readonly Document[]): ClientCall[] {
  return documents.map(({ sequence, metadata }) => {
    const {
      kind = 'function',
      namespace,
      name,
    } = AppToolForm.safeParse(metadata['form']).data ?? {};
    const args = Object(metadata['arguments'] ?? {});
    return {
      // OpenAI and Azure take ids of at most 40 characters.
      id: `call_${responseId.slice(PREFIX.length).replaceAll('-', '')}${sequence.toString(36)}`,
      kind,
      name: name ?? String(metadata['toolName']),
      ...(namespace !== undefined && { namespace }),
      arguments: kind === 'custom' ? String(args[CUSTOM_INPUT] ?? '') : JSON.stringify(args),
    };
  });
}

/** A result with the id of its call. */
export interface GivenResult {
  readonly id: string;
  readonly output: z.infer<typeof Output>;
}

/** The results among the items; undefined where one is none of ours, or they are not of one answer's calls. */
export function toResults(
  items: readonly unknown[],
  resultIn: (item: unknown) => GivenResult | undefined,
): Pick<CallResults, 'responseId' | 'results'> | undefined {
  const room = { left: MAX_RESULT_CHARS };
  const known = items.filter(isResult).map((item) => {
    const given = resultIn(item);
    const { uuid, sequence } = placeOf(given?.id ?? '');
    const result = given && resultOf(given.output, room);
    return { responseId: `${PREFIX}${uuid}`, documentId: documentIdOf(sequence), result };
  });
  const responseId = known[0]?.responseId ?? '';
  const isOfOne = known.every((each) => each.responseId === responseId && each.result);
  if (!isOfOne || !ResponseId.safeParse(responseId).success) return undefined;
  const results = known.flatMap(({ documentId, result }) =>
    result ? [[documentId, result] as const] : [],
  );
  return { responseId, results: Object.fromEntries(results) };
}

/** The response's UUID and the document's sequence in the id of a call. Earlier versions wrote the UUID with hyphens. */
function placeOf(id: string): { uuid: string; sequence: number } {
  const [, digits = '', place = ''] = /^call_([\da-f]{32})([\da-z]{1,4})$/.exec(id) ?? [];
  if (digits !== '') {
    const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { uuid, sequence: Number.parseInt(place, 36) };
  }
  const [, uuid = '', sequence = ''] = /^call_([\da-f-]+)_(\d{1,6})$/.exec(id) ?? [];
  return { uuid, sequence: Number(sequence) };
}

/** How an API reads its items. */
export interface AskReading {
  /** Undefined for what is no result. */
  readonly resultIn: (item: unknown) => GivenResult | undefined;
  /** The number of items at the beginning that the conversation has already. */
  readonly known: number;
  readonly noMessage: string;
}

/** What a request asks: results of calls, with what is said behind them, or a message. Undefined where it is refused. */
export function asksIn(
  asked: Divided<unknown>,
  { resultIn, known, noMessage }: AskReading,
  context: z.RefinementCtx,
): AskedMessages | CallResults | undefined {
  const { items, path } = asked;
  const last = items.at(-1);
  const from = resultsFrom(items) ?? items.length;
  const found = from < items.length ? toResults(items.slice(from), resultIn) : undefined;
  if (!checkAdded(found ? { ...asked, from } : asked, context)) return undefined;
  if (!found && isResult(last)) {
    context.addIssue({ code: 'custom', path: [...path], message: UNKNOWN_CALL });
    return undefined;
  }
  const question = () => toAsked(asked, known, context, noMessage);
  if (!found) return question();
  const otherwise = isOfUser(last) ? question() : undefined;
  return { ...found, said: saidIn(items.slice(from)), otherwise };
}

const UNKNOWN_CALL = 'No answer of the agent waits for these results together';

const PREFIX = 'chat_';
