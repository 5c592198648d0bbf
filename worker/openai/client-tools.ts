/** Tools of the app that asks: the run waits for their results. The id of a call names its response and document. */
import * as z from 'zod';
import { documentIdOf, ResponseId } from '../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { AppToolForm, type Document } from '../../shared/wire/documents.ts';
import { CUSTOM_INPUT } from './brought-tools.ts';
import { wordsOf } from './history.ts';

/** A result as an app gives it, as text: a note stands for what is none. */
export const Output = z
  .union([z.string(), z.array(z.looseObject({ type: z.string() }))])
  .transform(wordsOf)
  .pipe(z.string().max(REQUEST_LIMITS.maxMessageChars));

/** The results of the calls that an answer ended with. */
export interface CallResults {
  readonly responseId: string;
  /** The results by the documents of the calls. */
  readonly results: Readonly<Record<string, string>>;
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

/** The results with which a request ends; undefined where they are not of one answer's calls. */
export function toResults(
  given: readonly { readonly id: string; readonly output: string }[],
): CallResults | undefined {
  const known = given.map(({ id, output }) => {
    const { uuid, sequence } = placeOf(id);
    return { responseId: `${PREFIX}${uuid}`, documentId: documentIdOf(sequence), output };
  });
  const responseId = known[0]?.responseId ?? '';
  const isOfOne = known.every((each) => each.responseId === responseId);
  if (!isOfOne || !ResponseId.safeParse(responseId).success) return undefined;
  const results = known.map(({ documentId, output }) => [documentId, output] as const);
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

export const UNKNOWN_CALL = 'No answer of the agent waits for these results together';

const PREFIX = 'chat_';
