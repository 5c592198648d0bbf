/** One message and its answer on the screen, with the questions that come up and the two meanings of Ctrl-C. */
import { hostname } from 'node:os';
import type { ResponseStatus } from '../shared/documents.ts';
import type { StreamEvent } from '../shared/events.ts';
import { REQUEST_LIMITS } from '../shared/limits.ts';
import type { Chat } from './chat.ts';
import { Approvals } from './chat-approvals.ts';
import { NOTHING_SHOWN, renderEvent } from './render.ts';

/** How a turn ended; `left` when the person did not wait for the end. */
export type TurnEnd = Extract<ResponseStatus, 'completed' | 'error' | 'cancelled'> | 'left';

/** Sends the message and shows the answer to its end. Rejects with a ClientError when the server refuses. */
export async function runTurn(chat: Chat, message: string): Promise<TurnEnd> {
  const { client, terminal, mode, model, conversationId } = chat;
  const approvals = new Approvals(chat);
  const interrupts = new Interrupts(chat, approvals);
  let screen = NOTHING_SHOWN;
  let end: TurnEnd = 'error';
  const request = {
    messages: [{ role: 'user' as const, content: message }],
    mode,
    device: hostname().slice(0, REQUEST_LIMITS.maxNameChars),
    ...(model !== undefined && { model }),
    ...(conversationId !== undefined && { conversationId }),
  };
  const { signal } = interrupts;
  try {
    for await (const { event } of client.streamChat(request, { signal })) {
      const { state, text } = renderEvent(screen, event, terminal.paint);
      screen = state;
      interrupts.learn(event);
      approvals.withdrawAnswered(event);
      terminal.write(text);
      approvals.askFor(event);
      end = endOf(event) ?? end;
    }
    return end;
  } catch (error) {
    if (signal.aborted) return 'left';
    throw error;
  } finally {
    interrupts.end();
    await approvals.end();
  }
}

function endOf(event: StreamEvent): TurnEnd | undefined {
  if (event.type === 'done') return toTurnEnd(event.status);
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return undefined;
  return toTurnEnd(event.snapshot.response.status);
}

function toTurnEnd(status: ResponseStatus): TurnEnd | undefined {
  return status === 'completed' || status === 'error' || status === 'cancelled'
    ? status
    : undefined;
}

function responseOf(event: StreamEvent): { id: string; conversationId: string } | undefined {
  if (event.type === 'response_start') return event.response;
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return undefined;
  return event.snapshot.response;
}

/** Ctrl-C: the first one cancels the run, the second one leaves without waiting for it. */
class Interrupts {
  readonly #chat: Chat;
  readonly #approvals: Approvals;
  readonly #leave = new AbortController();
  readonly end: () => void;
  #responseId: string | null = null;
  #isCancelling = false;

  constructor(chat: Chat, approvals: Approvals) {
    this.#chat = chat;
    this.#approvals = approvals;
    this.end = chat.terminal.onInterrupt(() => this.#interrupt());
  }

  /** Aborts when the person leaves. */
  get signal(): AbortSignal {
    return this.#leave.signal;
  }

  /** The first events name what there is to cancel, and the conversation that goes on. */
  learn(event: StreamEvent): void {
    if (event.type === 'message') this.#responseId = event.message.responseId;
    const response = responseOf(event);
    if (!response) return;
    this.#responseId = response.id;
    this.#chat.conversationId = response.conversationId;
  }

  #interrupt(): void {
    const { terminal, client } = this.#chat;
    this.#approvals.withdrawAll();
    if (this.#isCancelling || this.#responseId === null) {
      this.#leave.abort();
      return;
    }
    this.#isCancelling = true;
    terminal.write(`\n${terminal.paint('yellow', 'Cancelling; Ctrl-C again leaves at once.')}\n`);
    client.cancel(this.#responseId, this.signal).catch((error: unknown) => {
      if (this.signal.aborted) return;
      this.#isCancelling = false;
      const why = error instanceof Error ? error.message : String(error);
      terminal.write(`${terminal.paint('red', `It could not be cancelled: ${why}`)}\n`);
    });
  }
}
