/** What is kept from chat to chat: the history, and the draft of each conversation. Nothing of private conversations. */
import { printableLine } from '../../../shared/text/plain-sight.ts';
import type { CommandDesk } from '../commands/command.ts';
import type { Composer } from './composer.ts';
import { keepDraft, readDraft } from './drafts.ts';
import { PromptHistory } from './history.ts';
import { INPUT_LIMITS } from './limits.ts';

export interface MemoryOptions {
  readonly composer: Composer;
  /** Without it, nothing is kept after the chat. */
  readonly stateDir: string | undefined;
  readonly desk: () => CommandDesk;
}

export class InputMemory {
  readonly #options: MemoryOptions;
  readonly #history: PromptHistory;
  /** The conversation whose draft was looked up. */
  #place: string | undefined;

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#history = new PromptHistory(options.stateDir);
  }

  /** Reads what earlier chats have left. */
  async load(): Promise<void> {
    await this.#history.load();
    const { composer } = this.#options;
    for (const text of this.#history.texts.toReversed()) composer.addToHistory(text);
  }

  remember(text: string): void {
    if (text === '') return;
    this.#options.composer.addToHistory(text);
    this.#history.add(text);
    this.follow();
  }

  /** Follows the session: which conversation it is at decides about the draft, and about what may be kept. */
  follow(): void {
    const { view } = this.#options.desk().session;
    if (!view) return;
    this.#history.settle(view.privacy !== undefined);
    if (view.id === this.#place) return;
    this.#place = view.id;
    void this.#takeDraft(view.id);
  }

  /** Keeps the draft of the conversation. */
  async leave(): Promise<void> {
    const { stateDir, composer, desk } = this.#options;
    const { view } = desk().session;
    if (!view || view.privacy || stateDir === undefined) return;
    await keepDraft(stateDir, view.id, composer.getExpandedText());
  }

  /** Lets the person choose from the history. */
  async search(): Promise<void> {
    const { composer, desk } = this.#options;
    const texts = [...new Set(this.#history.texts)];
    const items = texts.map((text, index) => ({
      value: String(index),
      label: printableLine(text, INPUT_LIMITS.maxLineChars),
    }));
    if (items.length === 0) return desk().say('There is nothing in the history yet.');
    const chosen = await desk().pick({ title: 'What you wrote before', items });
    if (chosen !== undefined) composer.write(texts[Number(chosen)] ?? '');
  }

  async #takeDraft(conversationId: string): Promise<void> {
    const { stateDir, composer } = this.#options;
    if (stateDir === undefined || !composer.isEmpty) return;
    const draft = await readDraft(stateDir, conversationId);
    if (draft === '' || !composer.isEmpty) return;
    composer.write(draft);
    await keepDraft(stateDir, conversationId, '');
  }
}
