/** What the person writes: messages, commands of the screen behind `/`, and commands of the shell behind `!`. */
import { type AutocompleteProvider, matchesKey, type TUI } from '@earendil-works/pi-tui';
import { ClientError, type FoundFile } from '../../../client/index.ts';
import { LocalError } from '../../../machine/local-error.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { readImage, toImagePart } from '../../chat/image-file.ts';
import { toContent } from '../../chat/message.ts';
import { describeFailure } from '../../terminal/failure-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { writtenPath } from '../../terminal/written-path.ts';
import type { CommandDesk } from '../commands/command.ts';
import { COMMANDS, runCommand } from '../commands/commands.ts';
import { Attachments } from './attachments.ts';
import { clipboardPrograms, readClipboardImage } from './clipboard.ts';
import { newCompletion } from './completion.ts';
import { Composer, type Written } from './composer.ts';
import { keepDraft, readDraft } from './drafts.ts';
import { editText } from './external-editor.ts';
import { History } from './history.ts';
import { imagePathsIn } from './image-paths.ts';
import { INPUT_LIMITS } from './limits.ts';
import { PendingList } from './pending.ts';
import { runShell } from './shell.ts';

export interface WriterOptions {
  readonly tui: TUI;
  readonly paint: Paint;
  readonly stateDir: string | undefined;
  /** Made after the writer, so read it late. */
  readonly desk: () => CommandDesk;
  /** Leaves the terminal to what `work` runs. */
  handOver<Result>(work: () => Promise<Result>): Promise<Result>;
}

export class Writer {
  readonly composer: Composer;
  /** Stand above the composer. */
  readonly pending: PendingList;
  readonly attachments: Attachments;
  readonly #options: WriterOptions;
  readonly #history: History;
  readonly #completion: AutocompleteProvider;
  #cleared = '';
  /** The conversation whose draft was looked up. */
  #place: string | undefined;

  constructor(options: WriterOptions) {
    const { tui, paint, stateDir, desk } = options;
    this.#options = options;
    this.pending = new PendingList(() => desk().session, paint);
    this.attachments = new Attachments(paint);
    this.#history = new History(stateDir);
    this.#completion = this.#newCompletion();
    this.composer = new Composer({
      ...{ tui, paint },
      onSubmit: (written) => void this.submit(written),
      onKey: (data) => this.#takeKey(data),
      onPaste: (text) => this.#takePaste(text),
    });
    this.composer.setAutocompleteProvider(this.#completion);
  }

  /** Reads what earlier chats have left. */
  async load(): Promise<void> {
    await this.#history.load();
    for (const text of this.#history.texts.toReversed()) this.composer.addToHistory(text);
  }

  /** Follows the session: which conversation it is at decides about the draft, and about what may be kept. */
  follow(): void {
    const { view } = this.#session;
    if (!view) return;
    this.#history.settle(view.privacy !== undefined);
    if (view.id === this.#place) return;
    this.#place = view.id;
    void this.#takeDraft(view.id);
  }

  /** Keeps the draft of a conversation that is not private. */
  async leave(): Promise<void> {
    const { view } = this.#session;
    const { stateDir } = this.#options;
    if (!view || view.privacy || stateDir === undefined) return;
    await keepDraft(stateDir, view.id, this.composer.getExpandedText());
  }

  /** Carries out what was written. A message goes into the answer that runs, or behind it with `queue`. */
  async submit({ text, isPlain }: Written, delivery: 'steer' | 'queue' = 'steer'): Promise<void> {
    if (text === '' && this.attachments.isEmpty) return;
    this.#remember(text);
    if (!isPlain && text.startsWith('/')) return await this.#try(() => this.#command(text));
    if (!isPlain && text.startsWith('!')) return await this.#try(() => this.#shell(text.slice(1)));
    await this.#send(text, delivery);
  }

  /** Takes everything back that no answer has, and stops the answer. */
  async stop(): Promise<void> {
    await this.#try(async () => {
      while (await this.#takeBack());
      await this.#session.cancel();
    });
  }

  /** The text is in the composer again, with its images. False if nothing waits. */
  async #takeBack(): Promise<boolean> {
    const taken = await this.#session.takeBack();
    if (!taken) return false;
    this.composer.putBack(taken.text);
    for (const image of taken.images) this.attachments.add(image, 'of the message');
    this.#draw();
    return true;
  }

  async #send(text: string, delivery: 'steer' | 'queue'): Promise<void> {
    const attached = this.attachments.take();
    const images = attached.map(({ image }) => image);
    const how = this.#session.isBusy ? delivery : 'queue';
    await this.#try(async () => {
      try {
        await this.#session.send(toContent(text, images), how);
      } catch (error) {
        this.composer.putBack(text);
        for (const { image, name } of attached) this.attachments.add(image, name);
        throw error;
      }
    });
  }

  async #command(text: string): Promise<void> {
    if (!(await runCommand(text, this.#desk))) this.composer.putBack(text);
  }

  async #shell(written: string): Promise<void> {
    const { chat, bridgeId } = this.#session;
    const command = written.trim();
    if (!chat.own || chat.own.bridgeId !== bridgeId) return this.#desk.say(ELSEWHERE);
    if (command === '') return this.#desk.say('Write a command behind the !, such as !git status');
    const { output, problem } = await this.#options.handOver(() => runShell(command));
    const end = problem === undefined ? [] : [`(${problem})`];
    this.#desk.say([`$ ${command}`, ...(output === '' ? [] : [output]), ...end].join('\n'));
  }

  /** Adds the image file to the next message. @throws {UsageError} for any other file. */
  async attach(path: string): Promise<void> {
    this.attachments.add(await readImage(writtenPath(path)), path);
    this.#draw();
  }

  /** Empties the composer. Leaving at once afterwards keeps the text. */
  clear(): void {
    this.#cleared = this.composer.getExpandedText();
    this.composer.write('');
  }

  /** Puts back what {@link clear} has removed. */
  unclear(): void {
    if (this.composer.isEmpty) this.composer.write(this.#cleared);
  }

  #takeKey(data: string): boolean {
    this.#cleared = '';
    const action = this.#actionOf(data);
    action?.();
    return action !== undefined;
  }

  #actionOf(data: string): (() => void) | undefined {
    const { composer } = this;
    const key = KEYS.find((each) => matchesKey(data, each));
    const isListOpen = composer.isShowingAutocomplete();
    switch (key) {
      case 'alt+up':
        return () => void this.#try(() => this.#takeBack());
      case 'ctrl+r':
        return () => void this.#searchHistory();
      case 'ctrl+g':
        return () => void this.#try(() => this.#edit());
      case 'ctrl+v':
        return () => void this.#try(() => this.#pasteImage());
      case 'backspace':
        if (!composer.isEmpty || this.attachments.isEmpty) return undefined;
        return () => this.attachments.removeLast();
      case 'tab':
        return isListOpen || !this.#canQueue() ? undefined : () => this.#queue();
      case 'enter':
        return isListOpen || !this.#isTooLong() ? undefined : () => this.#desk.say(TOO_LONG);
      default:
        return undefined;
    }
  }

  /** Whether Tab means to send, and not to complete. */
  #canQueue(): boolean {
    const { composer } = this;
    const { line, col } = composer.getCursor();
    const completes = this.#completion.shouldTriggerFileCompletion?.(
      ...[composer.getLines(), line, col],
    );
    return this.#session.isBusy && !composer.isEmpty && !completes && !this.#isTooLong();
  }

  #queue(): void {
    const written = this.composer.getExpandedText();
    this.composer.setText('');
    void this.submit({ text: written.trim(), isPlain: /^\s/.test(written) }, 'queue');
  }

  #isTooLong(): boolean {
    return this.composer.getExpandedText().length > REQUEST_LIMITS.maxMessageChars;
  }

  /** Files that a person drops on the terminal arrive as their paths. */
  #takePaste(text: string): boolean {
    const paths = text.length > REQUEST_LIMITS.maxPathChars ? [] : imagePathsIn(text);
    for (const path of paths) void this.#try(() => this.attach(path));
    return paths.length > 0;
  }

  async #pasteImage(): Promise<void> {
    const found = await readClipboardImage(process.cwd());
    if (found.state === 'no program') {
      const words = `To paste images, install one of these programs: ${clipboardPrograms()}.`;
      return this.#desk.say(words);
    }
    if (found.state === 'empty') return this.#desk.say('There is no image in the clipboard.');
    this.attachments.add(toImagePart(found.bytes, 'in the clipboard'), 'clipboard.png');
    this.#draw();
  }

  async #searchHistory(): Promise<void> {
    const texts = [...new Set(this.#history.texts)];
    const items = texts.map((text, index) => ({
      value: String(index),
      label: printableLine(text, INPUT_LIMITS.maxLineChars),
    }));
    if (items.length === 0) return this.#desk.say('There is nothing in the history yet.');
    const chosen = await this.#desk.pick({ title: 'What you wrote before', items });
    if (chosen !== undefined) this.composer.write(texts[Number(chosen)] ?? '');
    this.#draw();
  }

  async #edit(): Promise<void> {
    const text = this.composer.getExpandedText();
    const edited = await this.#options.handOver(() => editText(text));
    if (edited === undefined) this.#desk.say('The editor failed, so the text is as it was.');
    else this.composer.write(edited);
  }

  #remember(text: string): void {
    if (text === '') return;
    this.composer.addToHistory(text);
    this.#history.add(text);
    this.follow();
  }

  async #takeDraft(conversationId: string): Promise<void> {
    const { stateDir } = this.#options;
    if (stateDir === undefined || !this.composer.isEmpty) return;
    const draft = await readDraft(stateDir, conversationId);
    if (draft === '' || !this.composer.isEmpty) return;
    this.composer.write(draft);
    await keepDraft(stateDir, conversationId, '');
    this.#draw();
  }

  #newCompletion(): AutocompleteProvider {
    const commands = COMMANDS.map(({ name, help, takes, complete }) => ({
      ...{ name, help },
      ...(takes !== undefined && { takes }),
      ...(complete && {
        complete: (prefix: string) => orNothing(() => complete(prefix, this.#desk)),
      }),
    }));
    return newCompletion({ commands, findFiles: (...query) => this.#findFiles(...query) });
  }

  async #findFiles(query: string, signal: AbortSignal): Promise<readonly FoundFile[]> {
    const { chat, bridgeId } = this.#session;
    if (bridgeId === undefined) return [];
    return await orNothing(async () => {
      return (await chat.client.findFiles(bridgeId, query, signal)).items;
    });
  }

  get #desk(): CommandDesk {
    return this.#options.desk();
  }

  get #session() {
    return this.#desk.session;
  }

  #draw(): void {
    this.#options.tui.requestRender();
  }

  /** Says what went wrong. */
  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!isExpected(error)) throw error;
      this.#desk.say(error instanceof UsageError ? error.message : describeFailure(error));
    }
  }
}

const KEYS = ['alt+up', 'ctrl+r', 'ctrl+g', 'ctrl+v', 'backspace', 'tab', 'enter'] as const;

const ELSEWHERE =
  'This conversation works on another machine or in another folder, so ! runs no command here.';
const TOO_LONG =
  `The message is too long, so it was not sent: it may have at most ${REQUEST_LIMITS.maxMessageChars} ` +
  'characters. Put the text into a file of the folder and name it with @.';

/** A completion that the server refuses, or where it cannot be reached, is none. */
async function orNothing<Item>(find: () => Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof ClientError) return [];
    throw error;
  }
}

/** A refusal of the server, a wrong file, or a failure of the operating system. */
function isExpected(error: unknown): boolean {
  if (error instanceof ClientError || error instanceof LocalError) return true;
  if (error instanceof UsageError) return true;
  return error instanceof Error && 'code' in error && 'syscall' in error;
}
