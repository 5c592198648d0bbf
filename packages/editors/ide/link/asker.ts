/** Shows edits that wait for an approval as diffs in the editor, and takes the person's decision there. */

import { normalize } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Deferred, newDeferred } from '../../../../machine/deferred.ts';
import { Lanes } from '../../../../machine/lanes.ts';
import { currentCall, logEvent } from '../../../../machine/log.ts';
import type { LogIds } from '../../../../machine/log-line.ts';
import { shorten } from '../../../../shared/text/plain-sight.ts';
import type { AnswerEntry, Asker, OpenQuestion } from '../../../host/index.ts';

import type { Candidate } from '../discovery/candidate.ts';
import type { Companion, ShownDiff } from './companion.ts';
import { isSameCompanion } from './confirmed.ts';
import type { LinkLimits } from './limits.ts';
import type { EditorNews } from './wire.ts';

/** The person's decision about a diff. */
type DiffDecision = Extract<EditorNews, { type: 'diff' }>;

export interface EditorAskerOptions {
  readonly limits: LinkLimits;
  /** Asked anew for each diff, so that a confirmation counts at once. */
  readonly isConfirmed: (companion: Candidate) => Promise<boolean>;
  /** A diff could not be shown, because the companion is not confirmed. */
  readonly onUnconfirmed: () => void;
}

/** A question that may be shown. */
interface Showing {
  readonly path: string;
  readonly call: LogIds;
  /** The text to show: the proposal, or what the person had made of it when the connection was lost. */
  text: string;
  readonly decided: Deferred<DiffDecision>;
  /** Aborted by the decision, so that nothing waits for an answer of the companion any more. */
  readonly settled: AbortController;
  /** The question was decided or withdrawn. */
  isOver: boolean;
  /** The companion where a diff of it may be open. */
  shownBy: Candidate | undefined;
  /** Requests about it without an answer. Each ended a connection. */
  unanswered: number;
  /** The last attempt to open it. Never rejects. */
  opening: Promise<void>;
}

/**
 * Gives no answer where the editor cannot: without a confirmed companion, after its refusal, for a file that is too
 * large, or while the editor is gone. An editor that comes back shows the open questions again.
 */
export class EditorAsker implements Asker {
  readonly #options: EditorAskerOptions;
  readonly #showings = new Set<Showing>();
  /** Files with a diff that could not be closed. A decision about it must not count for a later diff. */
  readonly #unclosed = new Set<string>();
  /** A file has one diff at a time, because decisions name only the file. */
  readonly #lanes = new Lanes();
  readonly #showingWork = new Set<Promise<void>>();
  #companion: Companion | undefined;
  #looking: NodeJS.Timeout | undefined;

  constructor(options: EditorAskerOptions) {
    this.#options = options;
  }

  async ask(
    { question, edited }: OpenQuestion,
    signal: AbortSignal,
  ): Promise<AnswerEntry | undefined> {
    if (question.proposal.kind !== 'edit' || edited === undefined) return undefined;
    const { path, newText } = edited;
    if (!this.#fits({ path, text: newText })) return undefined;
    const { promise, resolve } = newDeferred<AnswerEntry | undefined>();
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
    const show = async () => {
      const decision = await this.#show({ path, text: newText }, signal);
      resolve(decision && toAnswered(decision, newText));
    };
    const work = this.#lanes.run([keyOf(path)], show, signal).catch(() => resolve(undefined));
    this.#showingWork.add(work);
    void work.then(() => this.#showingWork.delete(work));
    return await promise;
  }

  /** The companion answers from now on. */
  attach(companion: Companion): void {
    this.#companion = companion;
    for (const showing of this.#showings) this.#open(showing);
  }

  detach(): void {
    this.#companion = undefined;
    clearTimeout(this.#looking);
  }

  /** Takes a decision. Companions send each to all their clients, so one about an unknown diff is normal. */
  decide(from: Candidate, decision: DiffDecision): void {
    for (const showing of this.#showings) {
      const { path, shownBy } = showing;
      const isAsked = shownBy !== undefined && isSameCompanion(shownBy, from);
      if (isAsked && isSamePath(path, decision.filePath)) void this.#take(showing, from, decision);
    }
  }

  /** What was confirmed when the diff was shown, hours ago perhaps, need not be now. */
  async #take(showing: Showing, from: Candidate, decision: DiffDecision): Promise<void> {
    if (await this.#options.isConfirmed(from)) return showing.decided.resolve(decision);
    const message = 'An editor that is no longer confirmed has answered: answer elsewhere.';
    logEvent({ event: 'editor_diff_refused', ...showing.call, message });
  }

  /** Resolves when the diffs of withdrawn questions are closed, within a bound. */
  async end(): Promise<void> {
    const time = new AbortController();
    const up = sleep(this.#options.limits.endMs, undefined, { signal: time.signal });
    await Promise.race([Promise.all(this.#showingWork), up]);
    time.abort();
    await up.catch(() => {});
  }

  async #show({ path, text }: ShownDiff, signal: AbortSignal): Promise<DiffDecision | undefined> {
    const showing: Showing = {
      path,
      text,
      call: currentCall(),
      isOver: false,
      shownBy: undefined,
      unanswered: 0,
      opening: Promise.resolve(),
      decided: newDeferred(),
      settled: new AbortController(),
    };
    const withdrawn = newDeferred<undefined>();
    const withdraw = () => withdrawn.resolve(undefined);
    signal.addEventListener('abort', withdraw, { once: true });
    this.#showings.add(showing);
    this.#open(showing);
    try {
      const decision = await Promise.race([showing.decided.promise, withdrawn.promise]);
      showing.isOver = true;
      if (decision === undefined) await this.#withdraw(showing);
      else showing.settled.abort();
      return decision;
    } finally {
      signal.removeEventListener('abort', withdraw);
      this.#showings.delete(showing);
    }
  }

  #open(showing: Showing): void {
    showing.opening = showing.opening.then(() => this.#openNow(showing));
  }

  async #openNow(showing: Showing): Promise<void> {
    const companion = await this.#readyCompanion();
    const isHopeless = showing.unanswered >= this.#options.limits.maxUnanswered;
    if (companion === undefined || isHopeless || showing.isOver) return;
    if (!(await this.#clear(showing, companion)) || showing.isOver) return;
    showing.shownBy = companion.candidate;
    const opened = await companion.openDiff(showing, showing.settled.signal);
    if (opened.state === 'lost') showing.unanswered++;
    if (opened.state !== 'refused') return;
    showing.shownBy = undefined;
    const why = shorten(opened.why, this.#options.limits.maxWhyChars);
    const message = `${companion.name} does not show an edit (${why}). Answer it elsewhere.`;
    logEvent({ event: 'editor_diff_refused', ...showing.call, message });
  }

  async #readyCompanion(): Promise<Companion | undefined> {
    const companion = this.#companion;
    if (!companion?.canDiff) return undefined;
    const isConfirmed = await this.#options.isConfirmed(companion.candidate);
    if (companion !== this.#companion) return undefined;
    if (!isConfirmed) this.#lookAgain();
    return isConfirmed ? companion : undefined;
  }

  /** The owner may confirm this companion, or another one, while the question is open. */
  #lookAgain(): void {
    this.#options.onUnconfirmed();
    clearTimeout(this.#looking);
    this.#looking = setTimeout(() => {
      const shown = this.#companion?.candidate;
      for (const showing of this.#showings) if (showing.shownBy !== shown) this.#open(showing);
    }, this.#options.limits.confirmMs).unref();
  }

  /** Closes a diff of the file that an earlier connection may have left. False where that is not sure. */
  async #clear(showing: Showing, companion: Companion): Promise<boolean> {
    const key = keyOf(showing.path);
    if (!showing.shownBy && !this.#unclosed.has(key)) return true;
    const closed = await companion.closeDiff(showing.path);
    if (closed.state === 'unknown') {
      showing.unanswered++;
      return false;
    }
    this.#unclosed.delete(key);
    if (showing.shownBy) showing.text = closed.content ?? showing.text;
    return true;
  }

  /**
   * Returns when a decision that was already under way can no longer come. Lets the companion open the diff first: it
   * cannot close one that it is about to open.
   */
  async #withdraw(showing: Showing): Promise<void> {
    await showing.opening;
    const { path, decided, shownBy } = showing;
    if (shownBy === undefined) return;
    const closed = await this.#companion?.closeDiff(path);
    if (closed?.state !== 'closed') this.#unclosed.add(keyOf(path));
    else if (closed.content === undefined) {
      await Promise.race([decided.promise, sleep(this.#options.limits.lingerMs)]);
    }
  }

  #fits({ path, text }: ShownDiff): boolean {
    const bytes = Buffer.byteLength(JSON.stringify({ filePath: path, newContent: text }));
    return bytes <= this.#options.limits.maxDiffBytes;
  }
}

function toAnswered({ content }: DiffDecision, newText: string): AnswerEntry {
  if (content === undefined) return { decision: 'reject', by: BY };
  return { decision: 'once', by: BY, ...(content !== newText && { content }) };
}

const BY = 'editor';

/** Some companions give back another spelling of the path than they got. */
function isSamePath(one: string, other: string): boolean {
  return one === other || keyOf(one) === keyOf(other);
}

function keyOf(path: string): string {
  return normalize(path);
}
