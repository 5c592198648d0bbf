/** Makes conversations of several lengths with copies, and measures turns with them. */
import * as z from 'zod';
import { nowMs } from './clock.ts';
import { type ApiRequest, type House, messageFor } from './house.ts';
import { median } from './statistics.ts';

/** Copies of each length: no measurement makes one much longer, and each can be the first after a restart. */
export const COPIES = 8;
/** Turns of another conversation after each restart. */
const WARM_UPS = 20;

/** Values by length in exchanges: an exchange is a message and its answer. */
export type ByLength<Length extends number, Value> = Readonly<Record<Length, Value>>;

/** Runs the lengths one after the other, in order. */
export async function forEachLength<Length extends number, Value>(
  lengths: readonly Length[],
  measure: (length: Length) => Promise<Value>,
): Promise<ByLength<Length, Value>> {
  const values: Partial<Record<Length, Value>> = {};
  for (const length of lengths) values[length] = await measure(length);
  return values as ByLength<Length, Value>;
}

/** Ids of conversations: one is made, and the others are its copies up to one of its answers. */
export type Copies<Length extends number> = ByLength<Length, readonly string[]>;

/** Each copy is `step` exchanges shorter than the one before it. */
export async function makeCopies<Length extends number>(
  house: House,
  lengths: readonly Length[],
  step = 0,
): Promise<Copies<Length>> {
  const { conversationId, responseIds } = await converse(house, Math.max(...lengths));
  return await forEachLength(lengths, async (length) => {
    const path = `conversations/${conversationId}/forks`;
    const copies: string[] = [];
    while (copies.length < COPIES) {
      const body = { responseId: responseIds[length - 1 - copies.length * step] };
      const text = await readAll(house, path, { method: 'POST', body });
      copies.push(Forked.parse(JSON.parse(text)).conversationId);
    }
    return copies;
  });
}

const Forked = z.object({ conversationId: z.string() });

async function converse(house: House, exchanges: number) {
  const responseIds: string[] = [];
  let conversationId: string | undefined;
  while (responseIds.length < exchanges) {
    const { headers } = await takeTurn(house, conversationId);
    conversationId = z.string().parse(headers['drawbridge-conversation-id']);
    responseIds.push(z.string().parse(headers['drawbridge-response-id']));
  }
  return { conversationId, responseIds };
}

/** The times of an exchange, counted from its request. */
export interface Turn {
  /** The time to the first word of the answer. */
  readonly firstMs: number;
  readonly totalMs: number;
  /** Whether the model made a summary before this turn. */
  readonly isSummarised: boolean;
}

/** Sends a message and waits for its answer, in a new conversation if none is named. */
export async function takeTurn(house: House, conversationId: string | undefined) {
  const startMs = nowMs();
  let firstMs = Number.NaN;
  let isSummarised = false;
  const { headers, ended } = await house.request('chat/completions', {
    method: 'POST',
    body: { ...messageFor('greeting'), ...(conversationId !== undefined && { conversationId }) },
    onText(text) {
      isSummarised ||= text.includes('event: context_summary');
      if (Number.isNaN(firstMs) && text.includes('event: content_delta'))
        firstMs = nowMs() - startMs;
    },
  });
  const { totalMs } = await ended;
  if (Number.isNaN(firstMs)) throw new Error('An answer had no words.');
  return { headers, firstMs, totalMs, isSummarised };
}

/** The median of the turns without a summary. */
export function medianTurn(turns: readonly Turn[]): Pick<Turn, 'firstMs' | 'totalMs'> {
  const plain = turns.filter(({ isSummarised }) => !isSummarised);
  return {
    firstMs: median(plain.map(({ firstMs }) => firstMs)),
    totalMs: median(plain.map(({ totalMs }) => totalMs)),
  };
}

/** A turn with each copy in every round. The lengths alternate, so that other work of the machine affects all. */
export async function takeTurns<Length extends number>(
  house: House,
  copies: Copies<Length>,
  lengths: readonly Length[],
  rounds: number,
): Promise<ByLength<Length, readonly Turn[]>> {
  const turns = await forEachLength<Length, Turn[]>(lengths, async () => []);
  for (let round = 0; round < rounds; round++) {
    for (let copy = 0; copy < COPIES; copy++) {
      for (const length of lengths) turns[length].push(await takeTurn(house, copies[length][copy]));
    }
  }
  return turns;
}

/** Restarts, then loads and compiles the code: only the objects are cold, except the account's. */
export async function restartWarm(house: House): Promise<void> {
  await house.restart();
  await converse(house, WARM_UPS);
}

async function readAll(house: House, path: string, asked: ApiRequest): Promise<string> {
  let text = '';
  const onText = (piece: string) => {
    text += piece;
  };
  await (await house.request(path, { ...asked, onText })).ended;
  return text;
}
