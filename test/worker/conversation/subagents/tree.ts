/** A tree of agents with one model that answers each by its task, and a bridge that the test plays. */
import type { ConversationView } from '../../../../shared/wire/documents.ts';
import type { SubagentState } from '../../../../shared/wire/subagents.ts';
import type {
  ScriptedCall,
  ScriptedReply,
  ScriptedRequest,
} from '../../../far-ends/reply-script.ts';
import { call, type ModelAnswer, scriptModel } from '../../api.ts';

/** What the model answers to one task, turn by turn. A turn may look at the request. */
export type Turns = readonly (ScriptedReply | ((request: ScriptedRequest) => ModelAnswer))[];

/** A call of `task`; the prompt is also what {@link scriptTree} knows the task by. */
export function taskCall(
  prompt: string,
  more: { type?: string; model?: string } = {},
): ScriptedCall {
  const { type = 'explore', ...rest } = more;
  const args = { description: `Do ${prompt}`, prompt, subagent_type: type, ...rest };
  return { name: 'task', arguments: args };
}

/** The script has a row for each task, and `go` for the person's message. Returns the requests so far. */
export function scriptTree(script: Readonly<Record<string, Turns>>): ScriptedRequest[] {
  return scriptModel((request) => {
    const task = taskOf(request);
    const turn = request.messages.filter(({ role }) => role === 'assistant').length;
    const reply = script[task]?.[turn];
    if (!reply) throw new Error(`no turn ${turn} for the task ${task}`);
    return typeof reply === 'function' ? reply(request) : reply;
  });
}

/** What the last message of the user says, without what surrounds it and without notes of Drawbridge. */
export function taskOf({ messages }: ScriptedRequest): string {
  const said = messages.map(({ role, content }) =>
    role === 'user' ? JSON.stringify(content) : '',
  );
  const queries = said.flatMap((text) => QUERY.exec(text)?.[1] ?? []);
  return queries.at(-1) ?? said.join('');
}

const QUERY = /<user_query>\\n(.*?)\\n<\/user_query>/;

/** The results of a request's newest calls, as the model reads them. */
export function resultsIn({ messages }: ScriptedRequest): unknown[] {
  const from = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages
    .slice(from)
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content);
}

export async function viewOf(conversationId: string): Promise<ConversationView> {
  return await (await call(`conversations/${conversationId}`)).json();
}

/** The states of the subagents that the newest response of a conversation shows. */
export async function agentsOf(conversationId: string): Promise<SubagentState[]> {
  const { responses } = await viewOf(conversationId);
  const documents = responses.at(-1)?.documents ?? [];
  return documents.flatMap(
    ({ metadata }) => (metadata['subagent'] as SubagentState | undefined) ?? [],
  );
}
