/** The screen: what was said, what goes on, where the person writes or answers, and the keys. */
import {
  type Component,
  Container,
  isKeyRelease,
  matchesKey,
  ProcessTerminal,
  type TUI,
  TuiMainScreen,
} from '@earendil-works/pi-tui';
import type { ReadEvent } from '../../client/index.ts';
import { newDeferred } from '../../machine/deferred.ts';
import type { Chat } from '../chat/chat.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import type { Choice, CommandDesk } from './commands/command.ts';
import { copySequence } from './input/clipboard.ts';
import { FilterList } from './input/filter-list.ts';
import { Writer } from './input/writer.ts';
import { Session } from './session.ts';
import { ActivityLine, SPIN_MS } from './status/activity.ts';
import { Footer } from './status/footer.ts';
import { Surroundings } from './status/surroundings.ts';
import { markdownTheme } from './theme.ts';
import type { Look } from './transcript/look.ts';
import { Transcript } from './transcript/transcript.ts';

export class App {
  readonly #tui: TUI = new TuiMainScreen(new ProcessTerminal());
  readonly #look: Look;
  readonly #session: Session;
  readonly #transcript: Transcript;
  readonly #writer: Writer;
  /** Has the composer, or the dialog in its place. */
  readonly #slot = new Container();
  readonly #around = new Surroundings();
  readonly #left = newDeferred<number>();
  #spinning: NodeJS.Timeout | undefined;
  /** The bridge whose surroundings were read. */
  #lookedAt: string | undefined;
  /** When Ctrl-C was pressed last, in Unix milliseconds. */
  #interruptedMs = 0;

  constructor(chat: Chat) {
    const { paint } = chat.terminal;
    this.#look = {
      paint,
      markdown: markdownTheme(paint, (code) => code.split('\n')),
      isExpanded: false,
    };
    this.#transcript = new Transcript(this.#look);
    this.#writer = new Writer({
      ...{ tui: this.#tui, paint, stateDir: chat.stateDir },
      desk: () => this.#desk,
      handOver: (work) => this.#handOver(work),
    });
    for (const image of chat.images) this.#writer.attachments.add(image, 'of the command');
    this.#session = new Session(chat, (event) => this.#show(event));
    const session = () => this.#session;
    for (const part of [
      this.#transcript,
      new ActivityLine(session, paint),
      ...[this.#writer.pending, this.#writer.attachments],
      this.#slot,
      new Footer(session, this.#around, paint),
    ])
      this.#tui.addChild(part);
    this.#place(this.#writer.composer);
    this.#tui.addInputListener((data) => this.#onKey(data));
  }

  /** Resolves to the exit code when the person leaves. `messages` are sent at once; `begun` stands in the composer. */
  async run(messages: readonly string[], begun: string): Promise<number> {
    this.#writer.composer.write(begun);
    await this.#writer.memory.load();
    this.#tui.start();
    this.#lookAround();
    for (const text of messages) void this.#writer.submit({ text, isPlain: false }, 'queue');
    const code = await this.#left.promise;
    clearInterval(this.#spinning);
    await this.#writer.memory.leave();
    this.#session.end();
    this.#tui.stop();
    return code;
  }

  #place(component: Component): void {
    this.#slot.children = [component];
    this.#tui.setFocus(component);
  }

  #show(event: ReadEvent | null): void {
    this.#transcript.show(this.#session.view, event);
    this.#writer.memory.follow();
    if (event === null) this.#lookAround();
    this.#spin();
    this.#tui.requestRender();
  }

  /** Once for each folder: the person may go to the conversation of another one. */
  #lookAround(): void {
    const { bridgeId = 'none' } = this.#session;
    if (bridgeId === this.#lookedAt) return;
    this.#lookedAt = bridgeId;
    void this.#around.read(this.#session, () => this.#tui.requestRender());
  }

  /** Draws again and again while something goes on: time passes on the screen. */
  #spin(): void {
    const { isBusy, lostMs } = this.#session;
    const isActive = isBusy || lostMs !== undefined;
    if (isActive) this.#spinning ??= setInterval(() => this.#tui.requestRender(), SPIN_MS);
    else {
      clearInterval(this.#spinning);
      this.#spinning = undefined;
    }
  }

  get #desk(): CommandDesk {
    return {
      session: this.#session,
      say: (words) => this.#say(words),
      write: (words) => this.#writer.composer.write(words),
      attach: (path) => this.#writer.attach(path),
      copy: (text) => this.#tui.terminal.write(copySequence(text)),
      pick: (question) => this.#pick(question),
      confirm: async (title) => (await this.#pick({ title, items: YES_OR_NO })) === 'yes',
      leave: () => this.#left.resolve(EXIT.success),
    };
  }

  /** Shows the list in the place of the composer. */
  async #pick({ title, items }: Choice): Promise<string | undefined> {
    const { promise, resolve: onChoice } = newDeferred<string | undefined>();
    this.#place(new FilterList({ title, items, paint: this.#look.paint, onChoice }));
    this.#tui.requestRender();
    const choice = await promise;
    this.#place(this.#writer.composer);
    this.#tui.requestRender();
    return choice;
  }

  /** Leaves the terminal to what `work` runs. */
  async #handOver<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#tui.stop();
    try {
      return await work();
    } finally {
      this.#tui.start();
      this.#tui.requestRender(true);
    }
  }

  #say(words: string): void {
    this.#transcript.say(words);
    this.#tui.requestRender();
  }

  #onKey(data: string): { consume: true } | undefined {
    // Some terminals report when a key goes up again.
    if (isKeyRelease(data)) return undefined;
    const action = this.#actionOf(data);
    if (!matchesKey(data, 'ctrl+c')) this.#interruptedMs = 0;
    if (!action) return undefined;
    action();
    return { consume: true };
  }

  #actionOf(data: string): (() => void) | undefined {
    const { composer } = this.#writer;
    if (matchesKey(data, 'ctrl+o')) return () => this.#fold();
    if (matchesKey(data, 'ctrl+c')) return this.#interruption();
    // A list in the place of the composer takes the other keys itself.
    if (!composer.focused) return undefined;
    if (matchesKey(data, 'ctrl+d') && composer.isEmpty) return this.#desk.leave;
    const isFree = this.#session.isBusy && !composer.isShowingAutocomplete();
    if (matchesKey(data, 'escape') && isFree) return () => void this.#writer.stop();
    return undefined;
  }

  #fold(): void {
    this.#look.isExpanded = !this.#look.isExpanded;
    this.#transcript.redraw();
    this.#tui.requestRender();
  }

  /** Ctrl-C clears what is written, or stops the answer, or closes a list; pressed twice it always leaves. */
  #interruption(): (() => void) | undefined {
    const nowMs = Date.now();
    const isSecond = nowMs - this.#interruptedMs < TWICE_MS;
    this.#interruptedMs = nowMs;
    if (isSecond) return () => this.#leaveAtOnce();
    const { composer } = this.#writer;
    if (!composer.focused) return undefined;
    return composer.isEmpty ? () => this.#stopOrHint() : () => this.#writer.clear();
  }

  #leaveAtOnce(): void {
    this.#writer.unclear();
    this.#left.resolve(EXIT.interrupted);
  }

  #stopOrHint(): void {
    if (this.#session.isBusy) void this.#writer.stop();
    this.#say('Ctrl-C again leaves.');
  }
}

/** Two Ctrl-C within this time leave. */
const TWICE_MS = 2_000;

const YES_OR_NO = [
  { value: 'no', label: 'No' },
  { value: 'yes', label: 'Yes' },
];
