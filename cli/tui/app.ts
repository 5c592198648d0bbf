/** The screen: what was said, what goes on, where the person writes or answers, and the keys. */
import { hostname } from 'node:os';
import {
  type Component,
  Container,
  matchesKey,
  ProcessTerminal,
  setCapabilityOverrides,
  type TUI,
  TuiMainScreen,
} from '@earendil-works/pi-tui';
import { ClientError, type ReadEvent } from '../../client/index.ts';
import { newDeferred } from '../../machine/deferred.ts';
import type { ImagePart } from '../../shared/api/requests.ts';
import { isDelta } from '../../shared/wire/events.ts';
import type { Chat } from '../chat/chat.ts';
import { toContent } from '../chat/message.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { describeError } from '../terminal/failure-text.ts';
import { runCommand } from './commands/commands.ts';
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
  readonly #slot = new Container();
  readonly #around = new Surroundings();
  readonly #left = newDeferred<number>();
  #images: readonly ImagePart[];
  #spinning: NodeJS.Timeout | undefined;
  /** Set while a drawing of a growing text is due. */
  #drawing: NodeJS.Timeout | undefined;
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
    const session = () => this.#session;
    for (const part of [
      this.#transcript,
      new ActivityLine(session, paint),
      this.#slot,
      new Footer(session, this.#around, paint),
    ])
      this.#tui.addChild(part);
    this.#place(this.#composer);
    this.#tui.addInputListener((data) => this.#onKey(data));
  }

  /** Resolves to the exit code when the person leaves. `messages` are sent at once; `begun` stands in the composer. */
  async run(messages: readonly string[], begun: string): Promise<number> {
    this.#composer.setText(begun);
    this.#tui.start();
    void this.#around.read(this.#session, () => this.#tui.requestRender());
    void this.#look.colours.load().then(() => this.#redraw());
    for (const message of messages) void this.#submit(message);
    const code = await this.#left.promise;
    clearInterval(this.#spinning);
    clearTimeout(this.#drawing);
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
    };
  }

  #say(words: string): void {
    this.#transcript.say(words);
    this.#tui.requestRender();
  }

  #onKey(data: string): { consume: true } | undefined {
    const action = this.#actionOf(data);
    if (!action) return undefined;
    action();
    return { consume: true };
  }

  #actionOf(data: string): (() => void) | undefined {
    if (matchesKey(data, 'ctrl+c')) return () => this.#interrupt();
    if (matchesKey(data, 'ctrl+d') && this.#composer.isEmpty) return this.#desk.leave;
    if (matchesKey(data, 'ctrl+o')) return () => this.#fold();
    const isFree = this.#session.isBusy && !this.#composer.isShowingAutocomplete();
    if (matchesKey(data, 'escape') && isFree) return () => void this.#stop();
    return undefined;
  }

  #fold(): void {
    this.#look.isExpanded = !this.#look.isExpanded;
    this.#redraw();
  }

  #redraw(): void {
    this.#transcript.invalidate();
    this.#tui.requestRender();
  }

  /** Ctrl-C clears what is written, then stops the answer; pressed twice it always leaves. */
  #interrupt(): void {
    const nowMs = Date.now();
    const isSecond = nowMs - this.#interruptedMs < TWICE_MS;
    this.#interruptedMs = nowMs;
    if (!this.#composer.isEmpty) return this.#composer.setText('');
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

/** Between two drawings of a text that grows. */
const DRAW_MS = 40;

/** Two Ctrl-C within this time leave. */
const TWICE_MS = 2_000;
