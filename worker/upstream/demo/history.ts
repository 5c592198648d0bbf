/** What was said so far, as the planner sees it: the request, and the results of the turns since. */

/** A message of Chat Completions; its fields are looked at with care, since other models wrote some of them. */
export interface DemoMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: string;
}

/** What one call came to. */
export interface Result {
  readonly text: string;
  readonly failed: boolean;
}

export interface History {
  /** The last request of the user, in their own words. */
  readonly query: string;
  /** Whether nothing was answered yet in the whole conversation. */
  readonly isFirstAnswer: boolean;
  /** Results since the request, one list per turn, in call order. */
  readonly turns: readonly (readonly Result[])[];
  /** Calls made in the whole conversation; the next call's id counts on from here. */
  readonly callCount: number;
  /** UTF-16 units of all messages. */
  readonly chars: number;
}

export function readHistory(messages: readonly DemoMessage[]): History {
  const asked = messages.findLastIndex((message) => message.role === 'user');
  const since = messages.slice(asked + 1);
  const results = new Map(
    since.flatMap((message) =>
      message.role === 'tool' ? [[message.tool_call_id ?? '', readResult(message)]] : [],
    ),
  );
  return {
    query: queryOf(textOf(messages[asked]?.content)),
    isFirstAnswer: !messages.some((message) => message.role === 'assistant'),
    turns: since
      .map(callIdsOf)
      .filter((ids) => ids.length > 0)
      .map((ids) => ids.map((id) => results.get(id) ?? NO_RESULT)),
    callCount: messages.flatMap(callIdsOf).length,
    chars: messages.reduce((sum, { content }) => sum + textOf(content).length, 0),
  };
}

const NO_RESULT: Result = { text: 'Error NO_RESULT: The call has no result.', failed: true };

/** The turn's transcript begins every failed result like this (worker/conversation/transcript.ts). */
const FAILURE = /^Error(?: [A-Z_]+)?:/;

function readResult({ content }: DemoMessage): Result {
  const text = textOf(content);
  return { text, failed: FAILURE.test(text) };
}

function callIdsOf({ tool_calls: calls }: DemoMessage): string[] {
  return Array.isArray(calls) ? calls.map((call: unknown) => String(Object(call).id)) : [];
}

/** A content as text: a string, or OpenAI's list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => String(Object(part).text ?? '')).join('');
}

/** The request stands between its tags, after the context that the prompt puts before it. */
function queryOf(text: string): string {
  const query = /<user_query>([\s\S]*)<\/user_query>/.exec(text)?.[1];
  return (query ?? text).trim();
}
