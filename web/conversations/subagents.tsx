/** The subagents of a conversation below it in the list, while they are unfolded. */
import { useEffect, useState } from 'preact/hooks';
import {
  ClientError,
  type ConversationView,
  type PageClient,
  type SubagentState,
} from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { Subagent } from './subagent.tsx';

/** Exchanges whose subagents the list shows. */
const PART = 10;

interface SubagentsProps {
  readonly client: PageClient;
  readonly conversationId: string;
}

/** Follows the conversation. */
export function Subagents({ client, conversationId }: SubagentsProps) {
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
