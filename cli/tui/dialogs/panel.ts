/** A dialog: what it asks, one step after the other, in the place of the composer. */
import {
  decodeKittyPrintable,
  isKeyRepeat,
  matchesKey,
  truncateToWidth,
} from '@earendil-works/pi-tui';
import { type Deferred, newDeferred } from '../../../machine/deferred.ts';
import { type ProposedFile, putForChange, type Saved } from '../../questions/changed-file.ts';
import {
  type Chosen,
  type FieldStep,
  type ListChoice,
  type ListStep,
  type Prompter,
  type StepParts,
  Withdrawn,
} from '../../questions/steps.ts';
import { ChoiceList } from './choice-list.ts';
import { type Dialog, type DialogDesk, ROWS_BESIDE } from './dialog.ts';
import { Field, PASTE_START } from './field.ts';
import { folded } from './folded.ts';
import { BURST_MS, QuietGate } from './quiet-gate.ts';
import { ScrollText } from './scroll-text.ts';

interface PanelStep {
  readonly options: StepParts;
  readonly text: ScrollText;
  readonly control: ListControl | FieldControl;
  note: string | undefined;
}

interface ListControl {
  readonly type: 'list';
  readonly list: ChoiceList;
  readonly choices: readonly ListChoice<unknown>[];
  /** The index of the choice. */
  readonly answer: Deferred<Chosen<number> | undefined>;
}

interface FieldControl {
  readonly type: 'field';
  readonly field: Field;
  readonly answer: Deferred<string | undefined>;
}

export interface PanelOptions {
  readonly desk: DialogDesk;
  /** Where it stands among others: `1 of 3`. Empty for the only one. */
  readonly place: () => string;
  /** Esc at a step that puts away. */
  readonly onAway: () => void;
}

export class Panel implements Dialog, Prompter {
  readonly #desk: DialogDesk;
  readonly #place: () => string;
  readonly #onAway: () => void;
  readonly #gate: QuietGate;
  #step: PanelStep | undefined;
  #work = '';
  #isClosed = false;
  #cancelDrawing = () => {};
  /** An Enter answers once no key has followed it at once. */
  #cancelEnter = () => {};
  focused = false;

  constructor({ desk, place, onAway }: PanelOptions) {
    this.#desk = desk;
    this.#place = place;
    this.#onAway = onAway;
    this.#gate = new QuietGate(desk.nowMs);
  }

  /** Nothing is marked at first. */
  async choose<Answer>(step: ListStep<Answer>): Promise<Chosen<Answer> | undefined> {
    const { choices, tickable, ticked } = step;
    const labels = choices.map(({ label }) => label);
    const { paint } = this.#desk.look;
    const list = new ChoiceList({ labels, paint, tickable: tickable ?? 0, ticked: ticked ?? [] });
    const answer = newDeferred<Chosen<number> | undefined>();
    const picked = await this.#ask(step, { type: 'list', list, choices, answer });
    const choice = picked && choices[picked.answer];
    return choice && { answer: choice.answer, ticked: picked.ticked };
  }

  /** What does not do stays in the field, below the reason. */
  async write({ check, ...step }: FieldStep): Promise<string | undefined> {
    let { value = '', note } = step;
    for (;;) {
      const field = new Field(value, this.#desk.look.paint);
      const answer = newDeferred<string | undefined>();
      const written = await this.#ask({ ...step, note }, { type: 'field', field, answer });
      const problem = written === undefined ? undefined : check?.(written);
      if (written === undefined || problem === undefined) return written;
      [value, note] = [written, problem];
    }
  }

  async change(file: ProposedFile): Promise<Saved> {
    await using put = await putForChange(file);
    const hasEnded = await this.#desk.edit(put.file);
    return hasEnded ? await put.read() : { why: 'The editor failed.' };
  }

  /** Whether it asks something: the person may be typing. */
  get isAsking(): boolean {
    return this.#step !== undefined;
  }

  /** Shows what goes on until the next step. */
  work(words: string): void {
    this.#work = words;
    this.#desk.tui.requestRender();
  }

  /** Ends it: what was begun is no answer. */
  close(): void {
    this.#isClosed = true;
    this.#cancelDrawing();
    this.#cancelEnter();
    this.#step?.control.answer.reject(new Withdrawn());
    this.#step = undefined;
  }

  appears(): void {
    this.#cancelEnter();
    this.#gate.close();
  }

  /** False at the first step. */
  get canGoBack(): boolean {
    return this.#step !== undefined && !this.#step.options.putsAway;
  }

  /** Goes a step back. False at the first step. */
  back(): boolean {
    if (this.#step === undefined || !this.canGoBack) return false;
    this.#answer(this.#step, () => this.#step?.control.answer.resolve(undefined));
    return true;
  }

  handleInput(data: string): void {
    this.#cancelEnter();
    const admitted = this.#gate.admit();
    const step = this.#step;
    if (admitted === 'ignore' || step === undefined) return;
    const isEnter = matchesKey(data, 'enter') || data === '\n';
    if (matchesKey(data, 'escape')) {
      if (step.options.putsAway) this.#onAway();
      else this.back();
    } else if (!isEnter) this.#pass(data, step);
    else if (admitted === 'answer' && !isKeyRepeat(data)) this.#enter(step);
    this.#desk.tui.requestRender();
  }

  invalidate(): void {}

  render(width: number): string[] {
    // What a person may answer begins to stand now, and not while it was prepared.
    if (this.#step) this.#gate.drawn();
    const { closedMs = 0 } = this.#gate;
    if (closedMs > 0 && !this.#isClosed) {
      this.#cancelDrawing();
      this.#cancelDrawing = this.#desk.later(() => this.#desk.tui.requestRender(), closedMs);
    }
    const room = this.#desk.tui.terminal.rows - ROWS_BESIDE;
    const lines = this.#linesAt(width, room);
    return lines.map((line) => truncateToWidth(line, width, '…'));
  }

  async #ask<Answer>(
    options: StepParts,
    control: (ListControl | FieldControl) & { readonly answer: Deferred<Answer> },
  ): Promise<Answer> {
    if (this.#isClosed) throw new Withdrawn();
    const text = new ScrollText(options.body, this.#desk.look.paint);
    this.#step = { options, text, control, note: options.note };
    if (options.isNew) this.#gate.close();
    this.#desk.tui.requestRender();
    return await control.answer.promise;
  }

  #answer(step: PanelStep, settle: () => void): void {
    settle();
    // Keys that come before the next step find nothing to answer.
    if (this.#step === step) this.#step = undefined;
    this.#work = '';
  }

  #pass(data: string, { control, text }: PanelStep): void {
    if (control.type === 'field') return control.field.handleKey(data);
    if (data.startsWith(PASTE_START)) return;
    const isTaken = control.list.handleKey(data) || text.handleKey(data);
    if (isTaken || !isText(data)) return;
    // The person writes a message: a number in it chooses nothing, and its Enter answers nothing.
    control.list.unmark();
    this.#gate.close();
  }

  #enter(step: PanelStep): void {
    const confirm = () => {
      if (this.#step === step) this.#confirm(step);
      this.#desk.tui.requestRender();
    };
    this.#cancelEnter = this.#desk.later(confirm, BURST_MS);
  }

  #confirm(step: PanelStep): void {
    const { control, text } = step;
    if (control.type === 'field') {
      const { field, answer } = control;
      return this.#answer(step, () => answer.resolve(field.value.trim()));
    }
    const { list, choices, answer } = control;
    const index = list.marked;
    const choice = index === undefined ? undefined : choices[index];
    if (index === undefined || !choice)
      return this.#say(step, 'Choose with the arrows or a number first.');
    if (choice.needsEnd && !text.hasShownEnd) return this.#say(step, READ_ON);
    if (choice.needsEnd && !list.isMarkedWhole)
      return this.#say(step, 'Make the window larger to read all of this choice.');
    this.#answer(step, () => answer.resolve({ answer: index, ticked: list.ticked }));
  }

  #say(step: PanelStep, words: string): void {
    step.note = words;
  }

  #linesAt(width: number, room: number): string[] {
    const { paint } = this.#desk.look;
    const step = this.#step;
    if (step === undefined) return [paint('dim', this.#work === '' ? '…' : `${this.#work} …`)];
    if (width < MIN_COLUMNS || room < MIN_ROWS) return [paint('yellow', TOO_SMALL)];
    const { options, control, text } = step;
    if (step.note === READ_ON && text.hasShownEnd) step.note = undefined;
    const note = step.note === undefined ? [] : folded(step.note, width);
    const isList = control.type === 'list';
    const left = room - FRAME_ROWS - note.length;
    const body = Math.min(text.heightAt(width), MIN_BODY_ROWS);
    const wanted = isList ? control.list.heightAt(width) : control.field.render(width).length;
    const given = Math.max(1, Math.min(wanted, left - body));
    if (left < body + 1) return [paint('yellow', TOO_SMALL)];
    if (!isList) control.field.focused = this.focused;
    return [
      paint('yellow', paint('bold', titleLine(options.title, this.#place(), width))),
      ...text.render(width, left - given),
      ...note.map((line) => paint('yellow', line)),
      ...(isList ? control.list.render(width, given) : control.field.render(width).slice(0, given)),
      paint('dim', this.#hintOf(step)),
    ];
  }

  #hintOf({ options, control }: PanelStep): string {
    if (this.#gate.closedMs !== 0) return '…';
    const leaves = options.putsAway ? 'Esc: later' : 'Esc: back';
    if (control.type === 'field') return `Enter: go on · ${leaves}`;
    // A narrow screen cuts the end: the choices show their numbers themselves.
    return `Enter: answer · ${leaves} · ↑↓ 1-${control.choices.length}: choose`;
  }
}

function isText(data: string): boolean {
  return /^[^\p{Cc}]/u.test(decodeKittyPrintable(data) ?? data);
}

function titleLine(title: string, place: string, width: number): string {
  const words = [place, title].filter((each) => each !== '').join(' · ');
  return `── ${words} `.padEnd(width, '─');
}

const READ_ON = 'Read to the end first: Space or Page Down.';

/** The title and the hint. */
const FRAME_ROWS = 2;

/** A longer body scrolls in at least these. */
const MIN_BODY_ROWS = 3;

/** A smaller screen cannot show what a person answers. */
const MIN_COLUMNS = 16;
const MIN_ROWS = 6;
const TOO_SMALL = 'A question waits: make the window larger to read it.';
