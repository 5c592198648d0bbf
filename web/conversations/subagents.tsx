/** The subagents of a conversation: below it in the list, and each where the thread shows its call. */
import { useEffect, useState } from 'preact/hooks';
import {
  type Client,
  ClientError,
  type ConversationView,
  type SubagentState,
} from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { linkTo } from '../route.ts';
import { words } from '../words/words.ts';
import { stopAnswers } from './stop.ts';

/** Exchanges whose subagents the list shows. */
const PART = 10;

interface SubagentsProps {
  readonly client: Client;
  readonly conversationId: string;
}

/** Follows the conversation while it is unfolded. */
export function Subagents(props: SubagentsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="subagents" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{words.subagents}</summary>
      {isOpen && <Followed {...props} />}
    </details>
  );
}

function Followed({ client, conversationId }: SubagentsProps) {
  const [subagents, setSubagents] = useState<readonly NamedSubagent[]>([]);
  useEffect(() => {
    const left = new AbortController();
    const follow = async () => {
      const options = { signal: left.signal, limit: PART };
      for await (const { view, event } of client.watchConversation(conversationId, options)) {
        if (event === null || CHANGES.has(event.type)) setSubagents(subagentsIn(view));
      }
    };
    follow().catch((error: unknown) => {
      // The account's stream says what is wrong.
      if (!left.signal.aborted && !(error instanceof ClientError)) throw error;
    });
    return () => left.abort();
  }, [client, conversationId]);
  return (
    <ul>
      {subagents.map(({ id, name, state }) => (
        <li key={id}>
          {inOneLine(name)} · <Subagent client={client} subagent={state} />
        </li>
      ))}
    </ul>
  );
}

/** What can change a subagent's state, or add one. */
const CHANGES: ReadonlySet<string> = new Set(['subagent_update', 'document_end', 'snapshot']);

interface NamedSubagent {
  readonly id: string;
  readonly name: string;
  readonly state: SubagentState;
}

/** The newest first. */
function subagentsIn({ responses }: ConversationView): NamedSubagent[] {
  const named = responses.flatMap(({ id: responseId, documents }) =>
    documents.flatMap(({ id, metadata }): NamedSubagent[] => {
      const state = metadata['subagent'] as SubagentState | undefined;
      if (!state) return [];
      const { description } = Object(metadata['arguments']);
      return [{ id: `${responseId} ${id}`, name: String(description ?? state.type), state }];
    }),
  );
  return named.reverse();
}

interface SubagentProps {
  readonly client: Client;
  readonly subagent: SubagentState;
}

/** Its state, the way to its conversation, and its end. */
export function Subagent({ client, subagent }: SubagentProps) {
  const { conversationId, type, status, activity } = subagent;
  return (
    <span class="subagent">
      {inOneLine(type)} · {words.status[status] ?? status}{' '}
      {activity && !isOver(status) && <span>· {inOneLine(activity)}</span>}{' '}
      {conversationId && (
        <a href={linkTo({ at: 'conversation', id: conversationId })}>{words.openConversation}</a>
      )}{' '}
      {conversationId && !isOver(status) && (
        <button type="button" onClick={() => void stopAnswers(client, conversationId)}>
          {words.stop}
        </button>
      )}
    </span>
  );
}
