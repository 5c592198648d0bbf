/** One subagent, in the list and where the thread shows its call. */
import type { PageClient, SubagentState } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { linkTo } from '../route.ts';
import { words } from '../words/words.ts';
import { stopAnswers } from './stop.ts';

interface SubagentProps {
  readonly client: PageClient;
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
