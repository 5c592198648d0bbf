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
  /** Canonical name. */
  readonly tool: string;
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
      message.role === 'tool' ? [[message.tool_call_id ?? '', textOf(message.content)]] : [],
    ),
  );
  return {
    query: queryOf(textOf(messages[asked]?.content)),
    isFirstAnswer: !messages.some((message) => message.role === 'assistant'),
    turns: since
      .map(callsIn)
      .filter((calls) => calls.length > 0)
      .map((calls) => calls.map(({ id, tool }) => readResult(tool, results.get(id)))),
    callCount: messages.flatMap(callsIn).length,
    chars: messages.reduce((sum, { content }) => sum + textOf(content).length, 0),
  };
}

/** The turn's transcript begins every failed result like this (worker/conversation/memory/window/results.ts). */
const FAILURE = /^Error(?: [A-Z_]+)?:/;

function readResult(tool: string, text = 'Error NO_RESULT: The call has no result.'): Result {
  return { tool, text, failed: FAILURE.test(text) };
}

function callsIn({ tool_calls: calls }: DemoMessage): { id: string; tool: string }[] {
  if (!Array.isArray(calls)) return [];
  return calls.map((call: unknown) => {
    const { id, function: made } = Object(call);
    return { id: String(id), tool: String(Object(made).name) };
  });
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
