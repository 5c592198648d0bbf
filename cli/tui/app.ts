/** The screen: what was said, what goes on, where the person writes or answers, and the keys. */
import {
  isKeyRelease,
  matchesKey,
  ProcessTerminal,
  setCapabilityOverrides,
} from '@earendil-works/pi-tui';
import type { ReadEvent } from '../../client/index.ts';
import { newDeferred } from '../../machine/deferred.ts';
import { signalAll } from '../../machine/keyboard.ts';
import { HOUR } from '../../shared/units.ts';
import { isDelta } from '../../shared/wire/events.ts';
import { Mode } from '../../shared/wire/modes.ts';
import { type Chat, deviceName } from '../chat/chat.ts';
import { ChatSession } from '../chat/session.ts';
import { SCREEN_LIMITS } from '../limits.ts';
import { watchReplaced } from '../target/replaced.ts';
import { editorIn, openEditor, USUAL_EDITOR } from '../terminal/editor.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import type { EndSignal } from '../terminal/terminal.ts';
import type { CommandDesk } from './commands/command.ts';
import { Attention } from './dialogs/attention.ts';
import type { DialogDesk } from './dialogs/dialog.ts';
import { DialogSlot } from './dialogs/slot.ts';
import { copySequence } from './input/clipboard.ts';
import { Writer } from './input/writer.ts';
import { MainScreen } from './main-screen.ts';
import { ActivityLine, SPIN_MS } from './status/activity.ts';
import { Footer } from './status/footer.ts';
import { ProcessCount } from './status/processes.ts';
import { StatusSurroundings } from './status/surroundings.ts';
import { markdownTheme } from './theme.ts';
import { CodeColours } from './transcript/code-colours.ts';
import type { Look } from './transcript/look.ts';
import { Transcript } from './transcript/transcript.ts';

export class App {
  readonly #tui = new MainScreen(new ProcessTerminal());
  readonly #look: Look;
  readonly #session: ChatSession;
  readonly #transcript: Transcript;
  readonly #writer: Writer;
  /** Has the composer, or the dialog in its place. */
  readonly #slot: DialogSlot;
  readonly #attention: Attention;
  readonly #around = new StatusSurroundings();
  readonly #processes = new ProcessCount(
    () => this.#session,
    () => this.#tui.requestRender(),
  );
  readonly #left = newDeferred<number>();
  #spinning: NodeJS.Timeout | undefined;
  /** Set while a drawing of a growing text is due. */
  #drawing: NodeJS.Timeout | undefined;
  /** The bridge whose surroundings were read. */
  #lookedAt: string | undefined;
  /** Whether another program has the terminal, and a Ctrl-C is for that one. */
  #isReleased = false;
  /** Whether the conversation has changed meanwhile. */
  #hasMissed = false;
  /** When Ctrl-C was pressed last, by {@link nowMs}. */
  #interruptedMs = Number.NEGATIVE_INFINITY;

  constructor(chat: Chat) {
    const { paint } = chat.terminal;
    // The address of a link stays in sight, and no image of a text is drawn.
    setCapabilityOverrides({ hyperlinks: false, images: null });
    const colours = new CodeColours(paint);
    const markdown = markdownTheme(paint, colours);
    this.#look = {
      paint,
      colours,
      markdown,
      device: deviceName(),
      isExpanded: false,
      answeredHere: new Set(),
    };
    this.#transcript = new Transcript(this.#look);
    this.#writer = new Writer({
      tui: this.#tui,
      paint,
      stateDir: chat.stateDir,
      desk: () => this.#commandDesk,
      handOver: (work) => this.#lend(work),
    });
    for (const image of chat.images) this.#writer.attachments.add(image, 'of the command');
    this.#session = new ChatSession(chat, (event) => this.#show(event));
    this.#slot = new DialogSlot(this.#dialogDesk, this.#writer.composer);
    const { terminal } = this.#tui;
    this.#attention = new Attention({ terminal, env: process.env, nowMs });
    const session = () => this.#session;
    for (const part of [
      this.#transcript,
      new ActivityLine(session, () => this.#stopKey, paint),
      this.#writer.greeting,
      this.#writer.pending,
      this.#writer.attachments,
      this.#slot,
      new Footer({ session, around: this.#around, processes: this.#processes, paint }),
    ])
      this.#tui.addChild(part);
    this.#tui.addInputListener((data) => this.#onKey(data));
  }

  /** Resolves to the exit code when the person leaves. `messages` are sent at once; `begun` stands in the composer. */
  async run(messages: readonly string[], begun: string): Promise<number> {
    const { composer, memory } = this.#writer;
    composer.write(begun);
    await memory.load();
    this.#tui.start();
    this.#attention.start();
    this.#lookAround();
    void this.#look.colours.load().then(() => {
      this.#transcript.invalidate();
      this.#tui.requestRender();
    });
    const leaving = new AbortController();
    void watchReplaced(this.#session.chat, (line) => this.#say(line), leaving.signal);
    const endListening = this.#session.chat.terminal.onSignal((signal) => this.#onSignal(signal));
    for (const text of messages) void this.#writer.submit({ text, isPlain: false }, 'queue');
    const code = await this.#left.promise;
    endListening();
    leaving.abort();
    clearInterval(this.#spinning);
    clearTimeout(this.#drawing);
    this.#processes.end();
    await memory.leave();
    this.#session.end();
    this.#attention.stop();
    this.#tui.stop();
    return code;
  }

  #onSignal(signal: EndSignal): void {
    if (signal === 'SIGINT') this.#interrupt();
    else this.#left.resolve(signal === 'SIGTERM' ? EXIT.terminated : EXIT.unread);
  }

  #show(event: ReadEvent | null): void {
    this.#hasMissed = this.#isReleased;
    const { view } = this.#session;
    const isOther = view?.id !== this.#transcript.conversationId;
    this.#transcript.show(view, event);
    this.#slot.update();
    this.#attention.update(this.#session, this.#slot.waiting);
    this.#writer.memory.follow();
    if (event === null) this.#lookAround();
    if (event && MAY_RUN_ON.has(event.type)) this.#processes.look();
    if (event?.type === 'done') this.#tui.drawStale();
    this.#spin();
    if (isOther) return this.#tui.drawChanged(Number.POSITIVE_INFINITY);
    if (event === null || !isDelta(event)) return this.#tui.requestRender();
    // A person reads no faster than this, and each drawing takes time of all lines.
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      this.#tui.requestRender();
    }, DRAW_MS);
  }

  /** Once for each folder: the person may go to the conversation of another one. */
  #lookAround(): void {
    const { bridgeId = 'none' } = this.#session;
    if (bridgeId === this.#lookedAt) return;
    this.#lookedAt = bridgeId;
    void this.#around.read(this.#session, () => this.#tui.requestRender());
    this.#processes.look();
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

  get #commandDesk(): CommandDesk {
    return {
      session: this.#session,
      say: (words) => this.#say(words),
      show: (document, response) => {
        this.#transcript.showBelow(document, response);
        this.#tui.requestRender();
      },
      write: (words) => this.#writer.composer.write(words),
      attach: (path) => this.#writer.attach(path),
      copy: (text) => this.#tui.terminal.write(copySequence(text)),
      pick: (question) => this.#slot.pick(question),
      confirm: (words) => this.#slot.confirm(words),
      leave: () => this.#left.resolve(EXIT.success),
    };
  }

  get #dialogDesk(): DialogDesk {
    return {
      tui: this.#tui,
      look: this.#look,
      session: this.#session,
      nowMs,
      later: (work, ms) => {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
      say: (words) => this.#say(words),
      edit: (file) => this.#lend(() => openEditor(editorIn(process.env) ?? USUAL_EDITOR, file)),
    };
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
    this.#hasMissed = false;
    this.#attention.stop();
    this.#tui.leaveBelow(this.#saidLines);
  }

  /** Goes on below what the other program wrote. What was said meanwhile about it stands there already. */
  #takeBack(): void {
    this.#isReleased = false;
    const said = this.#saidLines;
    this.#tui.goOnBelow(this.#hasMissed ? Math.min(said, this.#tui.unchangedLines) : said);
    this.#attention.start();
  }

  get #saidLines(): number {
    return this.#transcript.render(this.#tui.terminal.columns).length;
  }

  #say(words: string): void {
    this.#transcript.say(words);
    this.#tui.requestRender();
  }

  #onKey(data: string): { consume: true } | undefined {
    // Terminals that report when a key is let go would otherwise press it twice.
    if (isKeyRelease(data)) return undefined;
    if (this.#attention.takes(data)) return { consume: true };
    if (!matchesKey(data, 'ctrl+c')) this.#interruptedMs = Number.NEGATIVE_INFINITY;
    if (this.#slot.takes(data)) return { consume: true };
    const action = this.#actionOf(data);
    if (!action) return undefined;
    action();
    return { consume: true };
  }

  #actionOf(data: string): (() => void) | undefined {
    const { composer } = this.#writer;
    if (matchesKey(data, 'ctrl+c')) return () => this.#interrupt();
    if (matchesKey(data, 'ctrl+o')) return () => this.#fold();
    if (matchesKey(data, 'ctrl+z')) return () => this.#suspend();
    // A dialog takes the other keys itself.
    if (this.#slot.isOpen) return undefined;
    if (matchesKey(data, 'shift+tab')) return () => this.#nextMode();
    if (matchesKey(data, 'ctrl+d') && composer.isEmpty) return this.#commandDesk.leave;
    const isFree = this.#session.isBusy && !composer.isShowingAutocomplete();
    if (matchesKey(data, 'escape') && isFree) return () => void this.#writer.stop();
    return undefined;
  }

  /** What is unsent comes back with the same key. Another dialog than a question takes both keys itself. */
  get #stopKey(): string | undefined {
    if (!this.#session.isBusy) return undefined;
    if (!this.#slot.isOpen) return 'Esc';
    return this.#slot.isAtQuestion ? 'Ctrl-C' : undefined;
  }

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
    this.#transcript.invalidate();
    this.#tui.drawChanged(this.#look.isExpanded ? SCREEN_LIMITS.unfoldedLines : 0);
  }

  /** Ctrl-C leaves a dialog, clears what is written, or stops the answer; pressed twice it always leaves. */
  #interrupt(): void {
    if (this.#isReleased) return;
    const isSecond = nowMs() - this.#interruptedMs < TWICE_MS;
    this.#interruptedMs = nowMs();
    if (isSecond) {
      this.#writer.unclear();
      return this.#left.resolve(EXIT.interrupted);
    }
    const isWriting = !this.#slot.isOpen && !this.#writer.composer.isEmpty;
    if (this.#slot.interrupt()) return;
    if (isWriting) return this.#writer.clear();
    if (this.#session.isBusy) void this.#writer.stop();
    this.#say('Ctrl-C again leaves.');
  }
}

/** Milliseconds that a change of the clock does not touch. */
function nowMs(): number {
  return performance.now();
}

/** After these a command may have begun to run in the background, or have ended. */
const MAY_RUN_ON: ReadonlySet<string> = new Set(['document_end', 'done']);

/** Between two drawings of a text that grows. */
const DRAW_MS = 40;

/** Two Ctrl-C within this time leave. */
const TWICE_MS = 2_000;
