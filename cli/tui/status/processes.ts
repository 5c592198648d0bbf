/** How many commands run in the background of the conversation's folder. */
import { SECOND } from '../../../shared/units.ts';
import type { ChatSession } from '../../chat/session.ts';

/** Asks the bridge when a command may have begun, and again and again while one runs. */
export class ProcessCount {
  readonly #session: () => Pick<ChatSession, 'bridgeId' | 'chat'>;
  readonly #onChange: () => void;
  #running = 0;
  #due: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(session: () => Pick<ChatSession, 'bridgeId' | 'chat'>, onChange: () => void) {
    this.#session = session;
    this.#onChange = onChange;
  }

  get running(): number {
    return this.#running;
  }

  /** Asks soon: several calls ask once. */
  look(afterMs = SOON_MS): void {
    clearTimeout(this.#due);
    if (!this.#hasEnded) this.#due = setTimeout(() => void this.#ask(), afterMs);
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#due);
  }

  async #ask(): Promise<void> {
    const running = await this.#count();
    if (running !== this.#running) {
      this.#running = running;
      this.#onChange();
    }
    if (running > 0) this.look(AGAIN_MS);
  }

  /** None where the bridge cannot be asked. */
  async #count(): Promise<number> {
    const { bridgeId, chat } = this.#session();
    if (bridgeId === undefined) return 0;
    try {
      const { items } = await chat.client.listProcesses(bridgeId);
      return items.filter((each) => each.running).length;
    } catch {
      return 0; // The line above the composer says what is wrong with the connection.
    }
  }
}

const SOON_MS = 300;
const AGAIN_MS = 10 * SECOND;
