/** A conversation as its readers see it: one part at a time. */

import { parseResponseId, responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import type { ConversationView } from '../../../shared/wire/documents.ts';
import { answerOf } from '../../../shared/wire/fold.ts';
import type { ConversationRow } from '../store/rows.ts';
import {
  type Exchange,
  type ExchangeSources,
  exchangesFrom,
  type From,
  foldExchanges,
  type Newest,
  newestExchanges,
} from './excerpt.ts';

/** A part of a conversation. `next` is the ordinal at which the following part begins; null at the end. */
export interface Chapter {
  readonly view: ConversationView;
  readonly next: number | null;
}

/** Never writes. Computes every view from the tape and the runs, in one synchronous step. */
export class Views {
  readonly #conversation: { readonly row: ConversationRow };
  readonly #source: ExchangeSources;

  /** Reads `conversation.row` each time, because a person can change it. */
  constructor(conversation: { readonly row: ConversationRow }, source: ExchangeSources) {
    this.#conversation = conversation;
    this.#source = source;
  }

  /** The newest exchanges, of all or of those before a response, limited to what is shown at once. */
  newest(
    wanted: Newest = { before: null, limit: CONVERSATION_LIMITS.shownExchanges },
  ): ConversationView {
    return this.#viewOf(newestExchanges(this.#source, wanted), this.#source.tape.head);
  }

  /**
   * The exchanges after `after` as {@link newest} views, the newest view first. Each is read on demand, and may hold
   * twice as many as the one before: the first exchange alone can be large, and all that is wanted.
   */
  *back(after = 0): Generator<ConversationView> {
    let before: number | null = null;
    let size = 1;
    do {
      const wanted = (before ?? this.#source.log.newest + 1) - 1 - after;
      const limit = Math.min(CONVERSATION_LIMITS.shownExchanges, wanted, size);
      const view: ConversationView = this.newest({ before, limit });
      yield view;
      size *= 2;
      before = view.earlier === null ? null : parseResponseId(view.earlier).ordinal;
    } while (before !== null && before > after + 1);
  }

  /** The exchanges from `ordinal` on, limited to what is shown at once. */
  chapter({ ordinal, until }: From): Chapter {
    const { exchanges, next } = exchangesFrom(this.#source, { ordinal, until });
    return { view: this.#viewOf(exchanges, until ?? this.#source.tape.head), next };
  }

  #viewOf(exchanges: readonly Exchange[], position: number): ConversationView {
    const { id, title, archived, created, bridge: bridgeId, parent } = this.#conversation.row;
    const described = {
      id,
      title,
      archived,
      created,
      bridgeId,
      ...(parent && { parent: parent.conversationId }),
    };
    const first = exchanges[0]?.ordinal ?? 1;
    const earlier = first > 1 ? responseIdOf(id, first) : null;
    const view = { ...described, messages: [], responses: [], earlier, position };
    foldExchanges(view, this.#source.tape, exchanges, position);
    return { ...view, ...described, responses: view.responses.map(answerOf) };
  }
}
