/** Sends one message, shows its answer and asks the questions that come up. */
import { hostname } from 'node:os';
import type { EventStream, FollowOptions, UndoInput } from '../../client/index.ts';
import type { MessageContent } from '../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import { type ReadEvent, StreamEvent } from '../../shared/wire/events.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { CLI_LIMITS } from '../limits.ts';
import {
  type Chat,
  sayHowToContinue,
  sayHowToExecute,
  sayLost,
  sayQueued,
  sayWhereToAnswer,
} from './chat.ts';
import { Interrupts, type Leaving } from './interrupts.ts';
import { asks, Questions } from './questions.ts';
import { openScreen } from './screen.ts';

/** How a turn ended. `waiting`: the run needs an answer that cannot be asked for here. A run that was left goes on. */
export type TurnEnd = 'completed' | 'error' | 'cancelled' | 'waiting' | Leaving;

/** Sends the message and shows the answer to its end. Rejects with a ClientError when the server refuses. */
export async function runTurn(chat: Chat, content: MessageContent): Promise<TurnEnd> {
  const { client, mode } = chat;
  const messages = [{ role: 'user' as const, content }];
  const request = { ...settingsOf(chat), ...placeOf(chat), messages, mode };
  return await showTurn(chat, (options) => client.streamChat(request, options));
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
  const open: OpenStream = (options) =>
    chat.client.executePlan(conversationId, documentId, request, options);
  const end = await showTurn(chat, open);
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
  let hasPlan = false; // Only a plan that was read can be gone on with.
  const watched: Chat = {
    ...chat,
    onEvent: (event) => {
      hasPlan ||= beginsPlan(event);
      chat.onEvent?.(event);
    },
  };
  const end = await showTurn(watched, (options) => client.executePlanFile(request, options));
  if (end === 'error' && hasPlan) sayHowToExecute(watched);
  return end;
}

/** Saves the plan as a file of the workspace. */
export async function savePlan(
  chat: Chat,
  { conversationId, responseId, documentId }: NewestPlan,
  name: string | undefined,
): Promise<TurnEnd> {
  const request = { responseId, ...(name !== undefined && { name }) };
  const open: OpenStream = (options) =>
    chat.client.savePlan(conversationId, documentId, request, options);
  return await showTurn(chat, open);
}

/** Takes changes back, or shows what that would do. */
export async function runUndo(chat: Chat, request: UndoInput): Promise<TurnEnd> {
  const { client, conversationId = '' } = chat;
  return await showTurn(chat, (options) => client.undo(conversationId, request, options));
}

/** The conversation that goes on, or the bridge of a new one. */
function placeOf({ conversationId, bridgeId, deleteAfterHours }: Chat) {
  if (conversationId !== undefined) return { conversationId };
  return {
    ...(bridgeId !== undefined && { bridgeId }),
    ...(deleteAfterHours !== undefined && { deleteAfterHours }),
  };
}

/** What a chat wants of each of its answers. */
export function settingsOf({ model, maxTurns, questions, withReasoning }: Chat) {
  return {
    device: hostname().slice(0, REQUEST_LIMITS.maxNameChars),
    ...(model !== undefined && { model }),
    ...(maxTurns !== undefined && { budget: { maxTurns } }),
    ...(questions && { questions }),
    ...(withReasoning && { include: ['reasoning' as const] }),
  };
}

/** Shows an answer that is already in progress, from its start. */
export async function joinTurn(chat: Chat, responseId: string): Promise<TurnEnd> {
  return await showTurn(chat, (options) => chat.client.followResponse(responseId, options));
}

type OpenStream = (options: FollowOptions) => EventStream;

async function showTurn(chat: Chat, open: OpenStream): Promise<TurnEnd> {
  const screen = openScreen(chat.terminal, chat.format);
  const questions = new Questions(chat);
  const interrupts = new Interrupts(chat, () => questions.withdrawAll());
  const { signal } = interrupts;
  let end: TurnEnd = 'error';
  let hasPlan = false;
  let isCutOff = false;
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
      if (event.type === 'message') queued = setTimeout(sayQueued, CLI_LIMITS.queuedMs, chat);
      const show = () => screen.show({ ...positioned, event });
      if (event.type === 'unknown') {
        show();
        continue;
      }
      learn(chat, interrupts, event);
      chat.onEvent?.(event);
      questions.withdrawAnswered(event);
      show();
      if (!chat.terminal.isInteractive && asks(event) && !answersItself(chat, event)) {
        sayWhereToAnswer(chat);
        return 'waiting';
      }
      if (chat.terminal.isInteractive) questions.askFor(event);
      hasPlan ||= beginsPlan(event);
      isCutOff ||= meetsLimit(event);
      end = endOf(event) ?? end;
    }
    if (hasPlan && chat.mode === 'plan' && end === 'completed') sayHowToExecute(chat);
    if (isCutOff && end === 'error') sayHowToContinue(chat);
    return interrupts.leaving ?? end;
  } catch (error) {
    if (signal.aborted && interrupts.leaving) return interrupts.leaving;
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

function beginsPlan(event: StreamEvent): boolean {
  return event.type === 'document_start' && event.document.type === 'plan';
}

/** Whether the answer ends because it may take no more turns, tokens, time or money. */
function meetsLimit(event: StreamEvent): boolean {
  if (event.type !== 'document_start' || event.document.type !== 'error') return false;
  const { errorCode } = event.document.metadata ?? {};
  return errorCode === 'TURN_LIMIT' || errorCode === 'BUDGET_EXCEEDED';
}

/** Whether the question ends by itself soon, as the person has said. */
function answersItself({ questions }: Chat, { type }: StreamEvent): boolean {
  return type === 'clarification_request' && questions?.afterSeconds !== undefined;
}

/** Takes the response to cancel and the conversation to continue from the first events. */
function learn(chat: Chat, interrupts: Interrupts, event: StreamEvent): void {
  if (event.type === 'message') interrupts.learn(event.message.responseId);
  if (event.type === 'mode_update') chat.mode = event.ownMode ?? event.mode;
  const response = responseOf(event);
  if (!response) return;
  interrupts.learn(response.id);
  chat.conversationId = response.conversationId;
}

function responseOf(
  event: StreamEvent,
): (Pick<ChatResponse, 'id' | 'conversationId'> & { status?: ChatResponse['status'] }) | undefined {
  if (event.type === 'response_start') return event.response;
  if (event.type !== 'snapshot' || event.snapshot.scope !== 'response') return undefined;
  return event.snapshot.response;
}

function endOf(event: StreamEvent): TurnEnd | undefined {
  const status = event.type === 'done' ? event.status : responseOf(event)?.status;
  return status !== undefined && isOver(status) ? status : undefined;
}
