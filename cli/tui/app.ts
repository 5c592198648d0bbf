/** The screen: what was said, what goes on, where the person writes or answers, and the keys. */
import { hostname } from 'node:os';
import {
  isKeyRelease,
  matchesKey,
  ProcessTerminal,
  setCapabilityOverrides,
  type TUI,
  TuiMainScreen,
} from '@earendil-works/pi-tui';
import { ClientError, type ReadEvent } from '../../client/index.ts';
import { newDeferred } from '../../machine/deferred.ts';
import { signalAll } from '../../machine/keyboard.ts';
import type { ImagePart } from '../../shared/api/requests.ts';
import { HOUR } from '../../shared/units.ts';
import { isDelta } from '../../shared/wire/events.ts';
import { Mode } from '../../shared/wire/modes.ts';
import type { Chat } from '../chat/chat.ts';
import { toContent } from '../chat/message.ts';
import { editorIn, openEditor, USUAL_EDITOR } from '../terminal/editor.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { describeError } from '../terminal/failure-text.ts';
import { runCommand } from './commands/commands.ts';
import { Attention } from './dialogs/attention.ts';
import { DialogSlot } from './dialogs/slot.ts';
import { Composer } from './input/composer.ts';
import { Session } from './session.ts';
import { ActivityLine, SPIN_MS } from './status/activity.ts';
import { Footer } from './status/footer.ts';
import { Surroundings } from './status/surroundings.ts';
import { markdownTheme } from './theme.ts';
import { CodeColours } from './transcript/code-colours.ts';
import type { Look } from './transcript/look.ts';
import { Transcript } from './transcript/transcript.ts';

export class App {
  readonly #tui: TUI = new TuiMainScreen(new ProcessTerminal());
  readonly #look: Look;
  readonly #session: Session;
  readonly #transcript: Transcript;
  readonly #composer: Composer;
  /** Has the composer, or the dialog in its place. */
  readonly #slot: DialogSlot;
  readonly #attention: Attention;
  readonly #around = new Surroundings();
  readonly #left = newDeferred<number>();
  #images: readonly ImagePart[];
  #spinning: NodeJS.Timeout | undefined;
  /** Set while a drawing of a growing text is due. */
  #drawing: NodeJS.Timeout | undefined;
  /** Whether another program has the terminal, and a Ctrl-C is for that one. */
  #isReleased = false;
  /** When Ctrl-C was pressed last, in Unix milliseconds. */
  #interruptedMs = 0;

  constructor(chat: Chat) {
    const { paint } = chat.terminal;
    // The address of a link stays in sight, and no image of a text is drawn.
    setCapabilityOverrides({ hyperlinks: false, images: null });
    this.#images = chat.images;
    const colours = new CodeColours(paint);
    this.#look = {
      paint,
      colours,
      markdown: markdownTheme(paint, colours),
      device: hostname(),
      isExpanded: false,
    };
    this.#transcript = new Transcript(this.#look);
    this.#composer = new Composer({
      tui: this.#tui,
      paint,
      onSubmit: (text) => void this.#submit(text),
    });
    this.#session = new Session(chat, (event) => this.#show(event));
    this.#slot = new DialogSlot(this.#dialogDesk, this.#composer);
    const { terminal } = this.#tui;
    this.#attention = new Attention({ terminal, env: process.env, nowMs });
    const session = () => this.#session;
    for (const part of [
      this.#transcript,
      new ActivityLine(session, paint),
      this.#slot,
      new Footer(session, this.#around, paint),
    ])
      this.#tui.addChild(part);
    this.#tui.addInputListener((data) => this.#onKey(data));
  }

  /** Resolves to the exit code when the person leaves. `messages` are sent at once; `begun` stands in the composer. */
  async run(messages: readonly string[], begun: string): Promise<number> {
    this.#composer.setText(begun);
    this.#tui.start();
    this.#attention.start();
    void this.#around.read(this.#session, () => this.#tui.requestRender());
    void this.#look.colours.load().then(() => this.#redraw());
    for (const message of messages) void this.#submit(message);
    const endListening = this.#session.chat.terminal.onSignal((signal) => {
      if (signal === 'SIGINT') this.#interrupt();
      else this.#left.resolve(signal === 'SIGTERM' ? EXIT.terminated : EXIT.unread);
    });
    const code = await this.#left.promise;
    endListening();
    clearInterval(this.#spinning);
    clearTimeout(this.#drawing);
    this.#session.end();
    this.#attention.stop();
    this.#tui.stop();
    return code;
  }

  #show(event: ReadEvent | null): void {
    this.#transcript.show(this.#session.view, event);
    this.#slot.update();
    this.#attention.update(this.#session, this.#slot.waiting);
    this.#spin();
    if (event === null || !isDelta(event)) return this.#tui.requestRender();
    // A person reads no faster than this, and each drawing takes time of all lines.
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      this.#tui.requestRender();
    }, DRAW_MS);
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

  async #submit(text: string): Promise<void> {
    try {
      if (text.startsWith('/')) return await runCommand(text, this.#desk);
      const content = toContent(text, this.#images);
      this.#images = [];
      await this.#session.send(content, this.#session.isBusy ? 'steer' : 'queue');
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.#say(describeError(error));
      if (!text.startsWith('/')) this.#composer.putBack(text);
    }
  }

  get #desk() {
    return {
      session: this.#session,
      say: (words: string) => this.#say(words),
      write: (words: string) => this.#composer.setText(words),
      leave: () => this.#left.resolve(EXIT.success),
      pick: this.#slot.pick.bind(this.#slot),
      confirm: (words: string) => this.#slot.confirm(words),
    };
  }

  get #dialogDesk() {
    return {
      ...{ tui: this.#tui, look: this.#look, session: this.#session, nowMs, later },
      say: (words: string) => this.#say(words),
      edit: (file: string) => this.#edit(file),
    };
  }

  /** Lends the terminal to the person's editor. Resolves to whether it ended well. */
  async #edit(file: string): Promise<boolean> {
    return await this.#lend(() => openEditor(editorIn(process.env) ?? USUAL_EDITOR, file));
  }

  /** Leaves the terminal to another program while the work goes on. */
  async #lend<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#release();
    try {
      return await work();
    } finally {
      this.#takeBack();
    }
  }

  #release(): void {
    this.#isReleased = true;
    this.#attention.stop();
    this.#tui.stop();
  }

  #takeBack(): void {
    this.#isReleased = false;
    this.#tui.start();
    this.#attention.start();
    this.#tui.requestRender(true);
  }

  #say(words: string): void {
    this.#transcript.say(words);
    this.#tui.requestRender();
  }

  #onKey(data: string): { consume: true } | undefined {
    // Terminals that report when a key is let go would otherwise press it twice.
    if (isKeyRelease(data)) return undefined;
    if (this.#attention.takes(data)) return { consume: true };
    if (this.#slot.takes(data, this.#composer.isEmpty)) return { consume: true };
    const action = this.#actionOf(data);
    if (!action) return undefined;
    action();
    return { consume: true };
  }

  #actionOf(data: string): (() => void) | undefined {
    if (matchesKey(data, 'ctrl+c')) return () => this.#interrupt();
    if (matchesKey(data, 'ctrl+o')) return () => this.#fold();
    if (matchesKey(data, 'ctrl+z')) return () => this.#suspend();
    if (this.#slot.isOpen) return undefined;
    if (matchesKey(data, 'ctrl+d') && this.#composer.isEmpty) return this.#desk.leave;
    if (matchesKey(data, 'shift+tab')) return () => this.#nextMode();
    const isFree = this.#session.isBusy && !this.#composer.isShowingAutocomplete();
    if (matchesKey(data, 'escape') && isFree) return () => void this.#stop();
    return undefined;
  }

  /** Back in the foreground, everything is drawn again. */
  #suspend(): void {
    this.#release();
    // Without a reader of the terminal nothing else keeps the process.
    const staying = setInterval(() => {}, HOUR);
    process.once('SIGCONT', () => {
      clearInterval(staying);
      this.#takeBack();
    });
    signalAll('SIGTSTP');
  }

  /** Of the next message. A mode of the workspace is followed by the first of the others. */
  #nextMode(): void {
    const { chat } = this.#session;
    const modes: readonly string[] = Mode.options;
    chat.mode = modes[(modes.indexOf(chat.mode) + 1) % modes.length] ?? chat.mode;
    this.#tui.requestRender();
  }

  #fold(): void {
    this.#look.isExpanded = !this.#look.isExpanded;
    this.#redraw();
  }

  #redraw(): void {
    this.#transcript.redraw();
    this.#tui.requestRender();
  }

  /** Ctrl-C leaves a dialog, clears what is written, then stops the answer; pressed twice it always leaves. */
  #interrupt(): void {
    if (this.#isReleased) return;
    const nowMs = Date.now();
    const isSecond = nowMs - this.#interruptedMs < TWICE_MS;
    this.#interruptedMs = nowMs;
    const isWriting = !this.#slot.isOpen && !this.#composer.isEmpty;
    if (!isSecond && this.#slot.interrupt()) return;
    if (isWriting) return this.#composer.setText('');
    if (isSecond) return this.#left.resolve(EXIT.interrupted);
    if (this.#session.isBusy) void this.#stop();
    this.#say('Ctrl-C again leaves.');
  }

  async #stop(): Promise<void> {
    try {
      await this.#session.cancel();
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.#say(`The answer could not be cancelled: ${describeError(error)}`);
    }
  }
}

/** Milliseconds that a change of the clock does not touch. */
function nowMs(): number {
  return performance.now();
}

function later(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
/** Between two drawings of a text that grows. */
const DRAW_MS = 40;

/** Two Ctrl-C within this time leave. */
const TWICE_MS = 2_000;
