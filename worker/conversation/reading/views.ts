/** A conversation as its readers see it: one part at a time. */
import type { ConversationView } from '../../../shared/documents.ts';
import { answerOf } from '../../../shared/fold.ts';
import { parseResponseId, responseIdOf } from '../../../shared/ids.ts';
import { CONVERSATION_LIMITS } from '../../../shared/limits.ts';
import type { ConversationRow } from '../store/rows.ts';
import {
  type Exchange,
  exchangesFrom,
  type From,
  foldExchanges,
  type Newest,
  newestExchanges,
  type Source,
} from './excerpt.ts';

/** A part of a conversation on the way to its end: `next` is the ordinal that the part after it begins with. */
export interface Chapter {
  readonly view: ConversationView;
  readonly next: number | null;
}

/** Reads only; every view is computed from what is stored, in one synchronous step. */
export class Views {
  readonly #conversation: { readonly row: ConversationRow };
  readonly #source: Source;

  /** The row is looked up each time: a person can change it. */
  constructor(conversation: { readonly row: ConversationRow }, source: Source) {
    this.#conversation = conversation;
    this.#source = source;
  }

  /** The newest exchanges, of all or of those before a response: as many as are shown at once. */
  newest(
    wanted: Newest = { before: null, limit: CONVERSATION_LIMITS.shownExchanges },
  ): ConversationView {
    return this.#viewOf(newestExchanges(this.#source, wanted), this.#source.tape.head);
  }

  /** The whole conversation in {@link newest} views, the last one first, each read when it is asked for. */
  *back(): Generator<ConversationView> {
    const limit = CONVERSATION_LIMITS.shownExchanges;
    let before: number | null = null;
    do {
      const view: ConversationView = this.newest({ before, limit });
      yield view;
      before = view.earlier === null ? null : parseResponseId(view.earlier).ordinal;
    } while (before !== null);
  }

  /** The exchanges from one on, as many as are shown at once. */
  chapter({ ordinal, until }: From): Chapter {
    const { exchanges, next } = exchangesFrom(this.#source, { ordinal, until });
    return { view: this.#viewOf(exchanges, until ?? this.#source.tape.head), next };
  }

  #viewOf(exchanges: readonly Exchange[], position: number): ConversationView {
    const { id, title, archived, created, bridge: bridgeId } = this.#conversation.row;
    const described = { id, title, archived, created, bridgeId };
    const first = exchanges[0]?.ordinal ?? 1;
    const earlier = first > 1 ? responseIdOf(id, first) : null;
    const view = { ...described, messages: [], responses: [], earlier, position };
    foldExchanges(view, this.#source.tape, exchanges, position);
    return { ...view, ...described, responses: view.responses.map(answerOf) };
  }
}
