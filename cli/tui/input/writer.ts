/** What the person writes: messages, commands of the screen behind `/`, and commands of the shell behind `!`. */
import { matchesKey, type TUI } from '@earendil-works/pi-tui';
import { ClientError, type FoundFile } from '../../../client/index.ts';
import { LocalError } from '../../../machine/local-error.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { printableLine } from '../../../shared/text/plain-sight.ts';
import { toContent } from '../../chat/message.ts';
import { describeFailure } from '../../terminal/failure-text.ts';
import type { Paint } from '../../terminal/paint.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import type { CommandDesk } from '../commands/command.ts';
import { COMMANDS, isOwnCommand, nameOfLine, runCommand } from '../commands/commands.ts';
import { Attachments } from './attachments.ts';
import { type CompletedCommand, type InputCompletion, newCompletion } from './completion.ts';
import { Composer, type Written } from './composer.ts';
import { editText } from './external-editor.ts';
import { Greeting, isUnsaid, PLACEHOLDER } from './greeting.ts';
import { imagePathsIn } from './image-paths.ts';
import { INPUT_LIMITS } from './limits.ts';
import { InputMemory } from './memory.ts';
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

/** The skills of a bridge as they were last asked for. */
interface AskedSkills {
  readonly bridgeId: string;
  readonly atMs: number;
  readonly found: readonly CompletedCommand[];
}

export class Writer {
  readonly composer: Composer;
  readonly memory: InputMemory;
  /** Stand above the composer. */
  readonly pending: PendingList;
  readonly attachments: Attachments;
  readonly greeting: Greeting;
  readonly #options: WriterOptions;
  readonly #completion: InputCompletion;
  #cleared = '';
  #skills: AskedSkills | undefined;

  constructor(options: WriterOptions) {
    const { tui, paint, stateDir, desk } = options;
    this.#options = options;
    this.pending = new PendingList({
      paint,
      session: () => desk().session,
      isWriting: () => !this.composer.isEmpty,
    });
    this.attachments = new Attachments(paint);
    this.greeting = new Greeting(() => desk().session, paint);
    this.#completion = this.#newCompletion();
    this.composer = new Composer({
      tui,
      paint,
      onSubmit: (written) => void this.submit(written),
      onKey: (data) => this.#takeKey(data),
      onPaste: (text) => this.#takePaste(text),
      placeholder: () => (isUnsaid(desk().session) ? PLACEHOLDER : undefined),
      isComplete: (before) => this.#completion.isComplete(before),
    });
    this.composer.setAutocompleteProvider(this.#completion);
    this.memory = new InputMemory({ composer: this.composer, stateDir, desk });
  }

  /** Carries out what was written. A message goes into the answer that runs, or behind it with `queue`. */
  async submit({ text, isPlain }: Written, delivery: 'steer' | 'queue' = 'steer'): Promise<void> {
    if (text === '' && this.attachments.isEmpty) return;
    this.memory.remember(text);
    if (!isPlain && text.startsWith('/'))
      return await this.#try(() => this.#command(text, delivery));
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
        await this.#session.send(toContent(text, images, this.#completion.chosen), how);
      } catch (error) {
        this.composer.putBack(text);
        for (const { image, name } of attached) this.attachments.add(image, name);
        throw error;
      }
    });
  }

  /** A skill or a command of the machine is a message: the machine puts its text there. */
  async #command(text: string, delivery: 'steer' | 'queue'): Promise<void> {
    const name = nameOfLine(text);
    if (!isOwnCommand(name)) {
      const { bridgeId } = this.#session;
      const skills = bridgeId === undefined ? [] : await this.#readSkills(bridgeId);
      if (skills.some((skill) => skill.name === name)) return await this.#send(text, delivery);
    }
    if (!(await runCommand(text, this.#desk))) this.composer.putBack(text);
  }

  async #shell(written: string): Promise<void> {
    const { chat, bridgeId } = this.#session;
    const command = written.trim();
    if (!chat.own || chat.own.bridgeId !== bridgeId) return this.#desk.say(ELSEWHERE);
    if (command === '') return this.#desk.say('Write a command behind the !, such as !git status');
    await this.#options.handOver(async () => this.#desk.say(await runShell(command)));
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
        return () => void this.memory.search();
      case 'ctrl+g':
        return () => void this.#try(() => this.#edit());
      case 'ctrl+v':
        return () => void this.#try(() => this.#attachClipboard());
      case 'backspace':
        if (!composer.isEmpty || this.attachments.isEmpty) return undefined;
        return () => this.attachments.removeLast();
      case 'tab':
        if (isListOpen) return undefined;
        if (this.#canQueue()) return () => this.#queue();
        if (!composer.isEmpty || !isUnsaid(this.#session)) return undefined;
        return () => composer.write(this.greeting.next());
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

  /** Adds the image file to the next message. @throws {UsageError} for any other file. */
  async attach(path: string): Promise<void> {
    await this.attachments.addFile(path);
    this.#draw();
  }

  /** Files that a person drops on the terminal arrive as their paths. */
  #takePaste(text: string): boolean {
    const paths = imagePathsIn(text);
    for (const path of paths) void this.#try(() => this.attach(path));
    return paths.length > 0;
  }

  async #attachClipboard(): Promise<void> {
    const problem = await this.attachments.addFromClipboard(process.cwd());
    if (problem !== undefined) this.#desk.say(problem);
    this.#draw();
  }

  async #edit(): Promise<void> {
    const text = this.composer.getExpandedText();
    const edited = await this.#options.handOver(() => editText(text));
    if (edited === undefined) this.#desk.say('The editor failed, so the text is as it was.');
    else this.composer.write(edited);
  }

  #newCompletion(): InputCompletion {
    const commands = COMMANDS.map(({ name, help, takes, complete }) => ({
      name,
      help,
      ...(takes !== undefined && { takes }),
      ...(complete && {
        complete: (prefix: string) => orNothing(() => complete(prefix, this.#desk)),
      }),
    }));
    return newCompletion({
      commands,
      findFiles: (...query) => this.#findFiles(...query),
      skills: () => this.#knownSkills(),
    });
  }

  /** What is known of them, while it is asked for anew where it is old: no key waits for a server. */
  #knownSkills(): readonly CompletedCommand[] {
    const { bridgeId } = this.#session;
    if (bridgeId === undefined) return [];
    const known = this.#skills?.bridgeId === bridgeId ? this.#skills : undefined;
    if (!known || Date.now() - known.atMs >= INPUT_LIMITS.skillsMs) {
      this.#skills = { bridgeId, atMs: Date.now(), found: known?.found ?? [] };
      void this.#readSkills(bridgeId);
    }
    return this.#skills?.found ?? [];
  }

  /** Those that a person may call and that no command of the screen hides. */
  async #readSkills(bridgeId: string): Promise<readonly CompletedCommand[]> {
    const short = (words: string) => printableLine(words, REQUEST_LIMITS.maxNameChars);
    const found = await orNothing(async () => {
      const { skills } = await this.#session.chat.client.getBridge(bridgeId);
      return skills
        .filter(({ name, callers }) => callers !== 'model' && !isOwnCommand(name))
        .map(({ name, description, takes }) => ({
          name,
          help: short(description),
          ...(takes !== undefined && { takes: short(takes) }),
        }));
    });
    this.#skills = { bridgeId, atMs: Date.now(), found };
    return found;
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
