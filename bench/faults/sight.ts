/** Records what one client has seen of a response, and checks for what it must never see. */
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { ReadEvent } from '../../shared/wire/events.ts';
import { answerOf, foldEvent, newResponse } from '../../shared/wire/fold.ts';
import type { Scenario } from './scenarios.ts';

const CALLING = new Map<string, 'call' | 'tree'>([
  ['terminal_command', 'call'],
  ['tool_call', 'tree'],
]);

export class Sight {
  response: ChatResponse | null = null;
  conversationId = '';
  done = 0;
  /** Whether a call has succeeded. */
  succeeded = false;
  /** The content of each document when it was complete. */
  readonly #whole = new Map<string, string>();
  #calling: 'call' | 'tree' | null = null;

  /** What a kill would interrupt now. */
  get underWay(): Scenario {
    if (!this.response || this.done > 0) return 'idle';
    if (this.response.status === 'waiting') return 'approval';
    return this.#calling ?? 'stream';
  }

  see(event: ReadEvent): void {
    if (event.type === 'response_start') {
      this.response = newResponse(event.response);
      this.conversationId = event.response.conversationId;
    }
    if (!this.response) return;
    if (event.type === 'snapshot' && event.snapshot.scope === 'response') this.#calling = null;
    foldEvent(this.response, event);
    if (event.type === 'done') this.done++;
    if (event.type === 'document_start') {
      this.#calling = CALLING.get(event.document.type) ?? null;
    }
    if (event.type === 'tool_result') {
      this.#calling = null;
      this.succeeded ||= event.result.status === 'success';
    }
    if (event.type === 'document_end') this.#end(event.documentId, event.finalContent);
  }

  /** The differences between the API's response and what the client has seen of it. */
  differencesTo(stored: ChatResponse): string[] {
    if (!this.response) return [];
    const [seen, asked] = [answerOf(this.response), stored].map((one) => JSON.stringify(one));
    const changed = stored.documents
      .filter(({ id, content }) => (this.#whole.get(id) ?? content) !== content)
      .map(({ id }) => `${id} was shown whole with other words`);
    return seen === asked ? changed : [...changed, `seen ${seen}, stored ${asked}`];
  }

  #end(documentId: string, content: string | undefined): void {
    const document = this.response?.documents.find(({ id }) => id === documentId);
    if (document?.metadata['interrupted'] === true) this.#whole.delete(documentId);
    else if (content !== undefined) this.#whole.set(documentId, content);
  }
}
