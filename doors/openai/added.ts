/**
 * Divides a request: what the client adds is checked, and the past is read as far as it can be. One rule for Chat
 * Completions, Responses and the AI SDK.
 */
import * as z from 'zod';
import { ChatMessage, imagesOf, type MessageContent, textOf } from '../../shared/api/requests.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { fieldsOf, toChatMessages } from './history.ts';

/** A message or an item of the past. */
export const Earlier = z.unknown().describe('What was said before, in any form');

/** What the agent is asked. */
export interface AskedMessages {
  readonly messages: readonly ChatMessage[];
}

/** Items of a request, and where each part of them begins. */
export interface Divided<Item> {
  /** The field that holds them, from the schema on. */
  readonly path: readonly string[];
  readonly items: readonly unknown[];
  /** What the client adds, from this index on. */
  readonly from: number;
  readonly schema: z.ZodType<Item>;
}

/**
 * Where the part begins that the client adds: the results at the end, or the last item and the lines of the system
 * directly before it. A message of the user before that is past, too: a chat keeps one that was refused.
 */
export function addedFrom(items: readonly unknown[]): number {
  const isOfPart = isResult(items.at(-1)) ? isResult : isLine;
  const before = items.slice(0, -1).findLastIndex((item) => !isOfPart(item));
  return before + 1;
}

/**
 * Where the part begins that holds results of the newest calls, whatever stands between and behind them; undefined
 * where the newest answer has no calls, or no results follow.
 */
export function resultsFrom(items: readonly unknown[]): number | undefined {
  const answer = items.findLastIndex(isAnswer);
  const isCalling = answer < 0 || callsIn(items[answer]);
  return isCalling && items.slice(answer + 1).some(isResult) ? answer + 1 : undefined;
}

function isAnswer(item: unknown): boolean {
  const { role } = fieldsOf(item);
  return role === 'assistant' || callsIn(item);
}

/** Whether the item is a call of a function, or an answer with calls. */
function callsIn(item: unknown): boolean {
  const { type, tool_calls: calls } = fieldsOf(item);
  if (type === 'function_call' || type === 'custom_tool_call') return true;
  return Array.isArray(calls) && calls.length > 0;
}

/** What is said behind results, which the model gets after them. */
export function saidIn(items: readonly unknown[]): MessageContent[] {
  const messages = toChatMessages(
    items.filter((item) => !isResult(item)),
    new Map(),
  );
  return messages.map(({ content }) => content).filter((content) => content !== '');
}

/** A result of a tool of the app. */
export function isResult(item: unknown): boolean {
  const { role, type } = fieldsOf(item);
  return role === 'tool' || type === 'function_call_output' || type === 'custom_tool_call_output';
}

/** A message of the user. */
export function isOfUser(item: unknown): boolean {
  return fieldsOf(item).role === 'user';
}

function isLine(item: unknown): boolean {
  const { role, type = 'message' } = fieldsOf(item);
  return (role === 'system' || role === 'developer') && type === 'message';
}

/** What the client adds; undefined where the schema refuses it. */
export function checkAdded<Item>(
  { path, items, from, schema }: Divided<Item>,
  context: z.RefinementCtx,
): Item[] | undefined {
  const checked = items.slice(from).map((item, at) => {
    const { data, error } = schema.safeParse(item);
    for (const issue of error?.issues ?? []) {
      context.addIssue({ ...issue, path: [...path, from + at, ...issue.path] });
    }
    return data;
  });
  return context.issues.length > 0 ? undefined : (checked as Item[]);
}

/** The messages of all items from `known` on, which a conversation does not have yet. */
export function toAsked(
  { path, items, from }: Divided<unknown>,
  known: number,
  context: z.RefinementCtx,
  noMessage: string,
): AskedMessages {
  const called = new Map<string, string>();
  const past = toChatMessages(items.slice(known, from), called).map(bounded);
  const added = items.slice(from).map((item) => toChatMessages([item], called));
  const { role, content = '' } = added.at(-1)?.at(-1) ?? {};
  const refuse = (message: string, ...at: number[]) => {
    context.addIssue({ code: 'custom', path: [...path, ...at], message });
    return z.NEVER;
  };
  for (const [at, messages] of added.entries()) {
    const { error } = z.array(ChatMessage).safeParse(messages);
    if (error?.issues[0]) return refuse(error.issues[0].message, from + at);
  }
  const isAsking = role === 'user' && isOfUser(items.at(-1));
  const isEmpty = typeof content === 'string' && content.trim() === '';
  return isAsking && !isEmpty ? { messages: [...past, ...added.flat()] } : refuse(noMessage);
}

/** An earlier message that is too large for our own form is cut. */
function bounded(message: ChatMessage): ChatMessage {
  if (ChatMessage.safeParse(message).success) return message;
  const images = imagesOf(message.content).length;
  const note = images === 0 ? '' : `[${images} image(s), left out]\n`;
  const content = `${note}${textOf(message.content)}`.slice(0, REQUEST_LIMITS.maxMessageChars);
  return { ...message, content };
}
