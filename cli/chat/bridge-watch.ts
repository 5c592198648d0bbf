/** Shows the person that the bridge is back after a call could not reach it. */
import type { StreamEvent } from '../../shared/wire/events.ts';
import { CLI_LIMITS } from '../limits.ts';
import type { Chat } from './chat.ts';

export class BridgeWatch implements Disposable {
  readonly #chat: Pick<Chat, 'client' | 'terminal'>;
  #timer: NodeJS.Timeout | undefined;

  constructor(chat: Pick<Chat, 'client' | 'terminal'>) {
    this.#chat = chat;
  }

  /** An error `BRIDGE_OFFLINE` starts the polling. */
  see(event: StreamEvent): void {
    if (codeOf(event) !== 'BRIDGE_OFFLINE' || this.#timer) return;
    this.#timer = setInterval(() => void this.#look(), CLI_LIMITS.bridgeLookMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Never rejects: the next interval repeats a failed request. */
  async #look(): Promise<void> {
    const { client, terminal } = this.#chat;
    const bridges = await client.listBridges().catch(() => undefined);
    if (!this.#timer || !bridges?.items.some(({ connected }) => connected)) return;
    this[Symbol.dispose]();
    terminal.notify(`${terminal.paint('dim', 'The bridge is back.')}\n`);
  }
}

function codeOf(event: StreamEvent): unknown {
  if (event.type === 'document_start') return event.document.metadata?.['errorCode'];
  return event.type === 'document_end' ? event.metadata?.['errorCode'] : undefined;
}
