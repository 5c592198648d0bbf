/** The Worker's services for one request of a door: submit a message, follow its answer, give results, cancel. */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import type { GivenResults } from '../../shared/api/app-results.ts';
import { newConversationId, parseResponseId } from '../../shared/ids.ts';

import type { ChatResponse } from '../../shared/wire/documents.ts';
import { type AppContext, personOf, senderOf } from '../account/caller.ts';
import { turnOf } from '../account/heavy-work.ts';
import { forkConversation } from '../conversation/fork/fork.ts';
import type { AnswerStream } from '../follow/answer-stream.ts';
import { attachFirst } from '../follow/attach.ts';
import { type Begun, cancelRun } from '../follow/cancel-run.ts';
import { foldAnswer, refusalOf } from '../follow/fold-answer.ts';
import { conversationOf } from '../objects.ts';
import { type Outcome, unwrap } from '../outcome.ts';
import type { Caller, ForkSource, Ordinals } from '../ports/conversation.ts';
import { reach } from '../reach.ts';
import { type Sending, submitMessage } from './accept.ts';

/** A run, and the part of it that is one answer: the documents behind the sequence `after`, 0 for all. */
export interface AnswerPlace extends Begun {
  readonly after: number;
}

/** For the sender of one request. Failures are DrawbridgeErrors; NOT_FOUND for what is of another account. */
export interface ApiDesk {
  readonly account: string;
  /** Aborted when the client leaves. */
  readonly left: AbortSignal;
  /** Begins a run. */
  submit(asked: Omit<Sending, keyof ReturnType<typeof senderOf>>): Promise<AnswerPlace>;
  /** Lets the run that waits for these results go on. Throws ALREADY_ANSWERED where it waits no more. */
  give(responseId: string, given: GivenResults): Promise<AnswerPlace>;
  /** Streams a run's answer, or throws where none can be followed. `giveUp` is called if the stream ends before. */
  follow(begun: Begun, stream: AnswerStream, giveUp: () => Promise<void>): Promise<void>;
  /** The response when it is over, or `isEnough`. `signal` ends the wait, not the run. */
  whole(
    begun: Begun,
    isEnough: Parameters<typeof foldAnswer>[3],
    signal: AbortSignal,
  ): Promise<ChatResponse>;
  /** Never throws. */
  cancel(begun: Begun, options?: { readonly unlessFollowed: boolean }): Promise<void>;
  /** The caller of a conversation of the sender. */
  callerOf(conversationId: string): Caller;
  /** Which responses the conversation has. */
  ordinals(conversationId: string): Promise<Outcome<Ordinals>>;
  has(conversationId: string, ordinal: number): Promise<boolean>;
  /** The names of the run's tools, without those of the app; null before its start. */
  offered(begun: Begun): Promise<readonly string[] | null>;
  /** Copies a conversation through the end of a response, and leaves files alone. Returns the copy's id. */
  fork(source: Pick<ForkSource, 'from' | 'ordinal'>, newId?: string): Promise<string>;
}

export function deskOf(c: Context<AppContext>): ApiDesk {
  const { env } = c;
  const person = personOf(c);
  const left = c.req.raw.signal;
  const callerOf = (conversationId: string) => ({ ...person, conversationId });
  return {
    account: person.account,
    left,
    callerOf,
    submit: async (asked) => ({
      ...(await submitMessage(env, { ...senderOf(c), ...asked })),
      after: 0,
    }),
    async give(responseId, given) {
      const { conversationId, ordinal } = parseResponseId(responseId);
      const caller = callerOf(conversationId);
      const give = () =>
        conversationOf(env, caller).giveResults(caller, ordinal, given, c.var.images?.place);
      return { caller, responseId, after: unwrap(await reach<Outcome<number>>(give)) };
    },
    async follow(begun, stream, giveUp) {
      const first = await attachFirst(env, begun, 'json', 0, left);
      if (first.type === 'response') throw await refusalOf(first.response);
      waitUntil(stream.follow(env, begun, first, { signal: left, giveUp }));
    },
    whole: (begun, isEnough, signal) => foldAnswer(signal, env, begun, isEnough),
    cancel: (begun, options) => cancelRun(env, begun, options),
    async ordinals(conversationId) {
      const caller = callerOf(conversationId);
      return await reach<Outcome<Ordinals>>(() => conversationOf(env, caller).ordinals(caller));
    },
    async has(conversationId, ordinal) {
      const caller = callerOf(conversationId);
      return (await reach(() => conversationOf(env, caller).find(caller, ordinal))).ok;
    },
    async offered({ caller, responseId }) {
      const { ordinal } = parseResponseId(responseId);
      const ask = () => conversationOf(env, caller).offered(caller, ordinal);
      return unwrap(await reach<Outcome<string[] | null>>(ask));
    },
    async fork(source, newId = newConversationId(crypto.randomUUID())) {
      using _ = await turnOf(person.account);
      await reach(() => forkConversation(env, callerOf(newId), { ...source, through: true }));
      return newId;
    },
  };
}
