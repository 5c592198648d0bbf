/** What the chat templates of six families refuse, as their public templates and error messages say. Strict on purpose. */
import type { UpstreamMessage } from '../../request.ts';

/** Why a template refuses the messages of a Chat Completions request; null where it takes them. */
export type Template = (messages: readonly UpstreamMessage[]) => string | null;

const isSystem = ({ role }: UpstreamMessage) => role === 'system' || role === 'developer';
const callsOf = (message: UpstreamMessage | undefined) =>
  (message?.role === 'assistant' && message.tool_calls) || [];

/** Each call has one result, directly behind the answer with the calls; ids are used once. */
const openai: Template = (messages) => {
  const seen = new Set<string>();
  let open = new Set<string>();
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) return `no call of ${message.tool_call_id}`;
      continue;
    }
    if (open.size > 0) return 'a call without a result';
    open = new Set(callsOf(message).map(({ id }) => id));
    for (const id of open) {
      if (seen.has(id)) return `${id} twice`;
      seen.add(id);
    }
  }
  return open.size > 0 ? 'a call without a result' : null;
};

/** No empty text anywhere. */
const gemini: Template = (messages) => {
  for (const { role, content, ...more } of messages) {
    const parts = typeof content === 'string' ? [content] : (content ?? []);
    const isEmpty = parts.length === 0 || parts.every((part) => part === '');
    if (isEmpty && !('tool_calls' in more)) return `nothing in a message of ${role}`;
  }
  return null;
};

/** The system prompt comes first, and some user has asked something. */
const qwen: Template = (messages) => {
  if (messages.some((message, index) => isSystem(message) && index > 0)) return 'system not first';
  return messages.some(({ role }) => role === 'user') ? null : 'no user query';
};

/** No user behind a tool or a user, no empty answer, ids of nine letters. */
const mistral: Template = (messages) => {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]?.role;
    if (message.role === 'user' && (before === 'tool' || before === 'user'))
      return `user after ${before}`;
    if (message.role === 'assistant' && before === 'assistant') return 'assistant after assistant';
    if (message.role === 'assistant' && message.content === '' && !callsOf(message).length)
      return 'an assistant with neither text nor calls';
  }
  const last = messages.at(-1)?.role;
  return last === 'user' || last === 'tool' ? null : `the last role is ${last}`;
};

/** Behind the system prompt user and answer take turns; results stand for a user. */
const gemma: Template = (messages) => {
  let turn = 'user';
  for (const [index, message] of messages.entries()) {
    if (isSystem(message)) continue;
    const isResult = message.role === 'tool';
    if (isResult && messages[index - 1]?.role === 'tool') continue;
    const speaker = message.role === 'assistant' ? 'assistant' : 'user';
    if (speaker !== turn) return `${message.role} in place of ${turn}`;
    turn = turn === 'user' ? 'assistant' : 'user';
  }
  return null;
};

/** By a name of each family. */
export const TEMPLATES: readonly (readonly [model: string, templates: readonly Template[]])[] = [
  ['gpt-5', [openai]],
  ['gemini-3-pro', [openai, gemini]],
  ['qwen3-coder', [openai, qwen]],
  ['mistral-large', [openai, qwen, mistral]],
  ['google/gemma-4-27b-it', [openai, gemma]],
];
