/** The place of the composer: it has the composer, or what the person has to answer first. */
import { type Component, Container, matchesKey, truncateToWidth } from '@earendil-works/pi-tui';
import { type ChatResponse, ClientError } from '../../../client/index.ts';
import { inOneLine, inPlainSight } from '../../../shared/text/plain-sight.ts';
import { askKeyOf, isOver } from '../../../shared/wire/fold.ts';
import { SubagentAsk } from '../../../shared/wire/subagents.ts';
import { decideApproval, sendReply } from '../../questions/approval.ts';
import { askQuestions } from '../../questions/clarification.ts';
import { Withdrawn } from '../../questions/steps.ts';
import { describeError } from '../../terminal/failure-text.ts';
import { approvalKey } from '../transcript/look.ts';
import type { Dialog, DialogDesk } from './dialog.ts';
import { Panel } from './panel.ts';
import { Picker, type PickOptions } from './picker.ts';
import { choosePlan, type MadePlan, planOf } from './plan.ts';
import { QuietGate } from './quiet-gate.ts';
import { sendAnswer } from './send.ts';

type AskedApproval = Extract<SubagentAsk, { kind: 'approval' }>;
type AskedQuestions = Extract<SubagentAsk, { kind: 'clarification' }>;

/** What has the place while nothing is asked. */
interface Writing extends Component {
  readonly isEmpty: boolean;
  /** Puts text that comes back before what is written. */
  putBack(text: string): void;
}

/** A dialog that the person or the program opened, and how it ends without an answer. */
interface Front {
  readonly dialog: Dialog;
  cancel(): void;
}

export class DialogSlot extends Container {
  readonly #desk: DialogDesk;
  readonly #composer: Writing;
  /** What waits, the oldest first, as it came: the session's own change in place. */
  readonly #asks = new Map<string, SubagentAsk>();
  /** Sent, and perhaps still in the session until the server's event comes. */
  readonly #answered = new Set<string>();
  /** Calls with their proposals that were allowed here. Asked again, the yes did not count. */
  readonly #allowed = new Set<string>();
  readonly #places = new Map<string, Promise<string>>();
  #asking: { readonly key: string; readonly panel: Panel } | undefined;
  #front: Front | undefined;
  #plan: { readonly plan: MadePlan; readonly panel: Panel } | undefined;
  #shown: Component | undefined;
  /** The person writes first. */
  #isAway = false;
  /** Whether a message was sent or an answer ran since the last answer was over; and the id of that one. */
  #isAwaiting = false;
  #doneId: string | undefined;
  /** Keeps words that were meant for a dialog from the composer. */
  #after: QuietGate | undefined;

  constructor(desk: DialogDesk, composer: Writing) {
    super();
    this.#desk = desk;
    this.#composer = composer;
    this.#arrange();
  }

  /** Whether a dialog has the keys. */
  get isOpen(): boolean {
    return this.#shown !== this.#composer;
  }

  /** Whether it shows the first step of a question of the agent, which Ctrl-C does not leave. */
  get isAtQuestion(): boolean {
    const panel = this.#asking?.panel;
    return panel !== undefined && this.#shown === panel && !panel.canGoBack;
  }

  /** The keys of what waits for the person. */
  get waiting(): ReadonlySet<string> {
    return new Set(this.#asks.keys());
  }

  /** Called after each change of the session. */
  update(): void {
    this.#takeAsks();
    if (this.#asking && !this.#asks.has(this.#asking.key)) this.#withdraw(this.#asking.panel);
    if (this.#plan && !this.#isOfferable(this.#plan.plan)) this.#withdraw(this.#plan.panel);
    if (this.#asks.size === 0) this.#isAway = false;
    const [next] = this.#asks;
    if (!this.#asking && next) void this.#ask(...next);
    this.#offerPlan();
    this.#arrange();
  }

  /** Lets the person choose; undefined if they cancel. */
  pick<Value>(options: PickOptions<Value>): Promise<Value | undefined> {
    return new Promise((resolve) => {
      const end = (value: Value | undefined) => {
        this.#front = undefined;
        resolve(value);
        this.#arrange();
      };
      const dialog = new Picker(this.#desk, options, (item) => end(item?.value));
      this.#open({ dialog, cancel: () => end(undefined) });
    });
  }

  /** Whether the person agrees to what `words` say. */
  async confirm(words: string): Promise<boolean> {
    const body = inPlainSight(words)
      .split('\n')
      .map((text) => ({ text }));
    // The answer that changes nothing is marked first.
    const choices = [
      { label: 'No', answer: false },
      { label: 'Yes', answer: true },
    ];
    const chosen = await this.#inFront((panel) => panel.choose({ title: 'Sure?', body, choices }));
    return chosen?.answer === true;
  }

  /** Ctrl-C: goes a step back or closes what the person opened. False if there is nothing to leave. */
  interrupt(): boolean {
    const { dialog } = this.#front ?? {};
    if (this.#asking && this.#shown === this.#asking.panel) return this.#asking.panel.back();
    if (!dialog) return false;
    if (!(dialog instanceof Panel && dialog.back())) this.#front?.cancel();
    return true;
  }

  /** A key before anything else gets it; true for one that is taken. */
  takes(data: string): boolean {
    if (matchesKey(data, 'ctrl+c')) return false;
    if (this.#after && !this.isOpen) {
      if (this.#after.admit() === 'ignore') return true;
      this.#after = undefined;
    }
    const isFree = !this.isOpen && this.#composer.isEmpty;
    if (!this.#isAway || !isFree || !matchesKey(data, 'tab')) return false;
    this.#isAway = false;
    this.#arrange();
    return true;
  }

  #takeAsks(): void {
    // What a person sees and signs has the form of its schema, and changes no more.
    const own = this.#desk.session.asks.flatMap(
      (ask) => SubagentAsk.safeParse(structuredClone(ask)).data ?? [],
    );
    const asks = new Map(own.map((ask) => [keyOf(ask), ask]));
    for (const key of [...this.#asks.keys(), ...this.#answered]) {
      if (asks.has(key)) continue;
      this.#asks.delete(key);
      this.#answered.delete(key);
    }
    for (const [key, ask] of asks) {
      if (!this.#asks.has(key) && !this.#answered.has(key)) this.#asks.set(key, ask);
    }
  }

  async #ask(key: string, ask: SubagentAsk): Promise<void> {
    const panel = new Panel({
      desk: this.#desk,
      place: () => (this.#asks.size > 1 ? `1 of ${this.#asks.size}` : ''),
      onAway: () => {
        this.#isAway = true;
        this.#arrange();
      },
    });
    this.#asking = { key, panel };
    try {
      if (ask.kind === 'approval') await this.#approve(panel, ask);
      else await this.#clarify(panel, ask);
      this.#answered.add(key);
      this.#asks.delete(key);
    } catch (error) {
      this.#sayUnlessWithdrawn(error, 'The answer was not accepted');
    }
    if (this.#asking?.panel === panel) this.#asking = undefined;
    this.update();
  }

  /** Rejects if the server does not take the answer. */
  async #approve(panel: Panel, question: AskedApproval): Promise<void> {
    const { session, look } = this.#desk;
    const { client, device } = session.chat;
    const { bridgeId } = question;
    const known = this.#places.get(bridgeId) ?? this.#findPlace(bridgeId);
    this.#places.set(bridgeId, known);
    const where = await known;
    const sameCall = `${question.callId} ${JSON.stringify(question.proposal)}`;
    const place = { where, wasRefused: this.#allowed.has(sameCall) };
    const reply = await decideApproval(panel, question, session.chat, place);
    const key = approvalKey(question.responseId, question.documentId);
    // The event can be quicker than the reply.
    look.answeredHere.add(key);
    try {
      await sendAnswer(panel, () => sendReply(client, question, reply, device));
    } catch (error) {
      look.answeredHere.delete(key);
      throw error;
    }
    if (reply.decision === 'once') this.#allowed.add(sameCall);
  }

  /** Rejects if the server does not take the answers. */
  async #clarify(
    panel: Panel,
    { questions, conversationId, documentId, responseId }: AskedQuestions,
  ): Promise<void> {
    const { client } = this.#desk.session.chat;
    const answer = { answers: await askQuestions(panel, questions), responseId };
    await sendAnswer(panel, () => client.answerClarification(conversationId, documentId, answer));
  }

  /** Never rejects: what is not known is said so. */
  async #findPlace(bridgeId: string): Promise<string> {
    const { client, own } = this.#desk.session.chat;
    const machine = own?.bridgeId === bridgeId ? 'this machine' : inOneLine(bridgeId);
    try {
      const { workspacePath } = await client.getBridge(bridgeId, AbortSignal.timeout(PLACE_MS));
      return `${inOneLine(workspacePath)}, ${machine}`;
    } catch {
      // Without it the question has all that is signed.
      return machine;
    }
  }

  /** What was begun is no answer, and what is typed on is no message. */
  #withdraw(panel: Panel): void {
    const isAnswering = this.#shown === panel && panel.isAsking;
    panel.close();
    if (this.#asking?.panel === panel) this.#asking = undefined;
    if (this.#plan?.panel === panel) this.#plan = undefined;
    if (this.#front?.dialog === panel) this.#front = undefined;
    if (!isAnswering) return;
    this.#after = new QuietGate(this.#desk.nowMs);
    this.#after.drawn();
  }

  #sayUnlessWithdrawn(error: unknown, what: string): void {
    if (error instanceof Withdrawn) return;
    if (!(error instanceof ClientError)) throw error;
    this.#desk.say(`${what}: ${describeError(error)}`);
  }

  /** A plan is offered once, at the end of an answer that the person waited for. */
  #offerPlan(): void {
    const { current, isBusy } = this.#desk.session;
    this.#isAwaiting ||= isBusy;
    if (isBusy || !current || !isOver(current.status) || current.id === this.#doneId) return;
    this.#doneId = current.id;
    if (this.#isAwaiting) void this.#offer(current);
    this.#isAwaiting = false;
  }

  async #offer(response: ChatResponse): Promise<void> {
    const plan = planOf(response);
    if (!plan || !this.#isOfferable(plan) || this.#front) return;
    try {
      await this.#inFront((panel) => {
        this.#plan = { plan, panel };
        const { chat } = this.#desk.session;
        return choosePlan(panel, plan, { chat, send: (words) => this.#send(words) });
      });
    } catch (error) {
      this.#sayUnlessWithdrawn(error, 'The plan was not taken');
    }
    this.#plan = undefined;
  }

  /** Words that the server does not take come back to the composer. */
  async #send(words: string): Promise<void> {
    try {
      await this.#desk.session.send(words);
    } catch (error) {
      this.#composer.putBack(words);
      throw error;
    }
  }

  #isOfferable({ conversationId, responseId }: MadePlan): boolean {
    const { current, isBusy, queued } = this.#desk.session;
    const isThere = current?.id === responseId && current.conversationId === conversationId;
    return isThere && !isBusy && queued.length === 0;
  }

  /** Asks in a dialog of its own. Undefined if it was cancelled. */
  async #inFront<Answer>(ask: (panel: Panel) => Promise<Answer>): Promise<Answer | undefined> {
    const panel = new Panel({ desk: this.#desk, place: () => '', onAway: () => {} });
    this.#open({ dialog: panel, cancel: () => panel.close() });
    try {
      return await ask(panel);
    } catch (error) {
      if (!(error instanceof Withdrawn)) throw error;
      return undefined;
    } finally {
      panel.close();
      if (this.#front?.dialog === panel) this.#front = undefined;
      this.#arrange();
    }
  }

  #open(front: Front): void {
    this.#front?.cancel();
    this.#front = front;
    this.#arrange();
  }

  #arrange(): void {
    const asking = this.#isAway ? undefined : this.#asking?.panel;
    const dialog = this.#front?.dialog ?? asking;
    const shown = dialog ?? this.#composer;
    this.children = dialog ? [dialog] : [...this.#reminder(), this.#composer];
    if (shown === this.#shown) return;
    this.#shown = shown;
    dialog?.appears();
    this.#desk.tui.setFocus(shown);
    this.#desk.tui.requestRender();
  }

  #reminder(): Component[] {
    const count = this.#asks.size;
    if (count === 0) return [];
    const words = count === 1 ? '1 question waits' : `${count} questions wait`;
    const { paint } = this.#desk.look;
    const render = (width: number) => {
      const how = this.#composer.isEmpty ? 'Tab answers' : 'send or clear the text first';
      return [truncateToWidth(paint('yellow', `${words}: ${how}`), width, '…')];
    };
    return [{ invalidate() {}, render }];
  }
}

/** Names one question among all. The ids of documents begin anew in each response. */
function keyOf(ask: SubagentAsk): string {
  return `${askKeyOf(ask)} ${ask.responseId}`;
}

/** How long a dialog waits for what it says of a machine. */
const PLACE_MS = 1_000;
