/** Whether a response is what the model's plan leads to: exactly, or for a cancelled one as its beginning. */

import { RUN_LIMITS } from '../../../../shared/limits.ts';
import type { ChatResponse, Document } from '../../../../shared/wire/documents.ts';
import type { Scripted } from './model.ts';
import { documentsOf, type Expected } from './reply.ts';
import type { PlannedTurn } from './turns.ts';

/** What is wrong, if anything. `messages` belong to the response; `crashes`: how often its run can be taken over. */
export function explain(
  response: ChatResponse,
  messages: readonly number[],
  scripted: Scripted,
  crashes: number,
): string[] {
  const [first = 0] = messages;
  const steered = scripted.plan.late.filter(({ delivery }) => delivery === 'steer');
  const search = {
    response,
    messages,
    scripted,
    mayGiveUp: crashes > RUN_LIMITS.maxTakeovers,
    // A message that was to steer asks for none, and finds nothing running now and then.
    showsReasoning: !steered.some(({ message }) => message === first),
  };
  if (isReached(search, first, 0, response.documents)) return [];
  return [`no way of the plan for ${messages} leads to ${JSON.stringify(response)}`];
}

interface Search {
  readonly response: ChatResponse;
  readonly messages: readonly number[];
  readonly scripted: Scripted;
  readonly mayGiveUp: boolean;
  readonly showsReasoning: boolean;
}

/** Whether `rest` can be all that came from this turn on. */
function isReached(search: Search, message: number, turn: number, rest: Document[]): boolean {
  const { scripted, response } = search;
  const planned = scripted.plan.messages[message]?.[turn];
  if (!planned) return false;
  if (isStopped(search, rest) || isSteered(search, message, rest)) return true;
  const step = `${message}.${turn}`;
  const attempts = Array.from(
    { length: scripted.attempts.get(step) ?? 0 },
    (_, index) => index + 1,
  );
  return attempts.some((attempt) => {
    const expected = documentsOf(planned, step, attempt).filter(
      ({ type }) => search.showsReasoning || type !== 'reasoning',
    );
    if (response.status === 'cancelled' && isBeginning(rest, expected)) return true;
    if (!isWhole(rest.slice(0, expected.length), expected)) return false;
    return isGoneOn(search, message, turn, rest.slice(expected.length));
  });
}

/** A turn is behind us: the run ends with it, goes on with the next one, or with a message that steers it. */
function isGoneOn(search: Search, message: number, turn: number, rest: Document[]): boolean {
  const { response, scripted } = search;
  const turns = scripted.plan.messages[message] ?? [];
  const planned = turns[turn];
  const isLast = turn === turns.length - 1;
  if (planned && isLast && isEnd(planned, response, rest)) return true;
  return isReached(search, message, turn + 1, rest) || isSteered(search, message, rest);
}

/** Whether a later message has turned the run away from this one. */
function isSteered(search: Search, message: number, rest: Document[]): boolean {
  const { messages } = search;
  const later = messages.slice(messages.indexOf(message) + 1);
  return later.some((steering) => isReached(search, steering, 0, rest));
}

function isEnd(planned: PlannedTurn, { status }: ChatResponse, rest: readonly Document[]): boolean {
  const { kind, pieces } = planned;
  const isGood = kind === 'text' || (kind === 'busy' && pieces > 0);
  if (isGood) return status === 'completed' && rest.length === 0;
  return status === 'error' && rest.length === 1 && rest[0]?.type === 'error';
}

/** Between two turns, or before anything of one was kept: cancelled, or given up after too many crashes. */
function isStopped({ response, mayGiveUp }: Search, rest: readonly Document[]): boolean {
  if (response.status === 'cancelled') return rest.length === 0;
  const [error] = rest;
  const isGivenUp = error?.metadata['errorCode'] === 'RECOVERY_EXHAUSTED' && rest.length === 1;
  return response.status === 'error' && mayGiveUp && isGivenUp;
}

function isWhole(documents: readonly Document[], expected: readonly Expected[]): boolean {
  return (
    documents.length === expected.length &&
    documents.every(
      ({ type, content }, index) =>
        type === expected[index]?.type && content === expected[index].content,
    )
  );
}

/** Of the last document its content may be a beginning, too. */
function isBeginning(documents: readonly Document[], expected: readonly Expected[]): boolean {
  const last = documents.at(-1);
  const whole = expected[documents.length - 1];
  if (!last || !whole || last.type !== whole.type) return false;
  const begun = (whole.content ?? '').startsWith(last.content ?? '');
  return begun && isWhole(documents.slice(0, -1), expected.slice(0, documents.length - 1));
}
