/** Sends one message, shows its answer and asks the questions that come up. */
import type { EventStream, FollowOptions, UndoInput } from '../../client/index.ts';
import type { MessageContent } from '../../shared/api/requests.ts';
import { openAsksIn } from '../../shared/shown/asks.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { type ReadEvent, StreamEvent } from '../../shared/wire/events.ts';
import { foldEvent, isOver, newResponse } from '../../shared/wire/fold.ts';
import type { SubagentAsk } from '../../shared/wire/subagents.ts';
import { CLI_LIMITS } from '../limits.ts';
import {
  type Chat,
  placeOf,
  sayHowToContinue,
  sayHowToExecute,
  sayLost,
  sayQueued,
  sayWhereToAnswer,
  settingsOf,
} from './chat.ts';
import { Interrupts, type Leaving } from './interrupts.ts';
import { Questions } from './questions.ts';
import { openScreen } from './screen.ts';

/** How a turn ended. `waiting`: the run needs an answer that cannot be asked for here. A run that was left goes on. */
export type TurnEnd = 'completed' | 'error' | 'cancelled' | 'waiting' | Leaving;

/** Sends the message and shows the answer to its end. Rejects with a ClientError when the server refuses. */
export async function runTurn(chat: Chat, content: MessageContent): Promise<TurnEnd> {
  const { client, mode } = chat;
  const messages = [{ role: 'user' as const, content }];
  const request = { ...settingsOf(chat), ...placeOf(chat), messages, mode };
  return (await showTurn(chat, (options) => client.streamChat(request, options))).end;
}

/** The newest plan of a conversation. */
export interface NewestPlan {
  readonly conversationId: string;
  readonly responseId: string;
  readonly documentId: string;
}

/** Has the plan executed and shows the answer, like {@link runTurn}. */
export async function executePlan(
  chat: Chat & { readonly mode: 'agent' | 'debug' },
  { conversationId, responseId, documentId }: NewestPlan,
): Promise<TurnEnd> {
  const request = { ...settingsOf(chat), mode: chat.mode, responseId };
  const { end } = await showTurn(chat, (options) =>
    chat.client.executePlan(conversationId, documentId, request, options),
  );
  if (end === 'error') sayHowToExecute(chat);
  return end;
}

/** Has the plan of a file executed, in the conversation that the chat names or in a new one. */
export async function executePlanFile(
  chat: Chat & { readonly mode: 'agent' | 'debug' },
  path: string,
): Promise<TurnEnd> {
  const { client, mode } = chat;
  const request = { ...settingsOf(chat), ...placeOf(chat), mode, path };
  const { end, response } = await showTurn(chat, (options) =>
    client.executePlanFile(request, options),
  );
  // Only a plan that was read can be gone on with.
  if (end === 'error' && hasPlan(response)) sayHowToExecute(chat);
  return end;
}

/** Saves the plan as a file of the workspace. */
export async function savePlan(
  chat: Chat,
  { conversationId, responseId, documentId }: NewestPlan,
  name: string | undefined,
): Promise<TurnEnd> {
  const request = { responseId, ...(name !== undefined && { name }) };
  const { end } = await showTurn(chat, (options) =>
    chat.client.savePlan(conversationId, documentId, request, options),
  );
  return end;
}

/** Takes changes back, or shows what that would do. */
export async function runUndo(chat: Chat, request: UndoInput): Promise<EndedTurn> {
  const { client, conversationId = '' } = chat;
  return await showTurn(chat, (options) => client.undo(conversationId, request, options));
}

/** Shows an answer that is already in progress, from its start. */
export async function joinTurn(chat: Chat, responseId: string): Promise<TurnEnd> {
  const open = (options: FollowOptions) => chat.client.followResponse(responseId, options);
  return (await showTurn(chat, open)).end;
}

/** How a turn ended, and its answer as far as it was shown; undefined where none began. */
interface EndedTurn {
  readonly end: TurnEnd;
  readonly response: ChatResponse | undefined;
}

async function showTurn(
  chat: Chat,
  open: (options: FollowOptions) => EventStream,
): Promise<EndedTurn> {
  const { terminal } = chat;
  const screen = openScreen(terminal, chat.format);
  const questions = new Questions(chat);
  const interrupts = new Interrupts(chat, () => questions.withdrawAll());
  const { signal } = interrupts;
  let response: ChatResponse | undefined;
  let end: TurnEnd = 'error';
  let queued: NodeJS.Timeout | undefined;
  let isLost = false;
  const onReconnect = (error: unknown) => {
    // A stream that has only reached its age limit ends without an error.
    if (error !== undefined && !isLost) sayLost(chat, error);
    isLost ||= error !== undefined;
  };
  try {
    for await (const positioned of open({ signal, onReconnect })) {
      isLost = false;
      const event = questions.placed(checked(positioned.event));
      if (event.type !== 'heartbeat') clearTimeout(queued);
      if (event.type === 'message') {
        queued = setTimeout(sayQueued, CLI_LIMITS.queuedMs, chat);
        interrupts.learn(event.message.responseId);
      }
      if (event.type === 'mode_update') chat.mode = event.ownMode ?? event.mode;
      if (event.type !== 'unknown') chat.onEvent?.(event);
      response = folded(response, event);
      if (response) {
        interrupts.learn(response.id);
        chat.conversationId = response.conversationId;
      }
      screen.show({ ...positioned, event });
      const asks = response ? openAsksIn({ id: response.conversationId, title: '' }, response) : [];
      if (terminal.isInteractive) questions.update(asks);
      else if (asks.some((ask) => !answersItself(chat, ask))) {
        sayWhereToAnswer(chat);
        return { end: 'waiting', response };
      }
      const status = event.type === 'done' ? event.status : response?.status;
      if (status !== undefined && isOver(status)) end = status;
    }
    if (hasPlan(response) && chat.mode === 'plan' && end === 'completed') sayHowToExecute(chat);
    if (end === 'error' && meetsLimit(response)) sayHowToContinue(chat);
    return { end: interrupts.leaving ?? end, response };
  } catch (error) {
    if (signal.aborted && interrupts.leaving) return { end: interrupts.leaving, response };
    throw error;
  } finally {
    clearTimeout(queued);
    interrupts.end();
    await questions.end();
  }
}

/** The client takes an event at its word; what a terminal shows, and a person signs, has the form of its schema. */
function checked(event: ReadEvent): ReadEvent {
  if (event.type === 'unknown') return event;
  return StreamEvent.safeParse(event).data ?? { type: 'unknown', name: event.type, data: event };
}

/** The response after the event. */
export function folded(
  response: ChatResponse | undefined,
  event: ReadEvent,
): ChatResponse | undefined {
  if (event.type === 'response_start') return newResponse(event.response);
  if (event.type === 'snapshot' && event.snapshot.scope === 'response')
    return event.snapshot.response;
  if (response) foldEvent(response, event);
  return response;
}

/** Whether the question ends by itself soon, as the person has said. */
function answersItself({ questions, conversationId }: Chat, ask: SubagentAsk): boolean {
  const isOwn = ask.kind === 'clarification' && ask.conversationId === conversationId;
  return isOwn && questions?.afterSeconds !== undefined;
}

function hasPlan(response: ChatResponse | undefined): boolean {
  return response?.documents.some(({ type }) => type === 'plan') ?? false;
}

/** Whether the answer ends because it may take no more turns, tokens, time or money. */
function meetsLimit(response: ChatResponse | undefined): boolean {
  const errors = response?.documents.filter(({ type }) => type === 'error') ?? [];
  return errors.some(({ metadata: { errorCode } }) => {
    return errorCode === 'TURN_LIMIT' || errorCode === 'BUDGET_EXCEEDED';
  });
}
