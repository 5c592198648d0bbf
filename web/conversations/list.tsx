/** The conversations: who waits for a person first, then the newest. */
import { useState } from 'preact/hooks';
import type { ConversationInfo } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { later } from '../later.tsx';
import { useLive } from '../live.ts';
import { linkTo, type PagePlace } from '../route.ts';
import { LIST, type PageAccount, waitingIn } from '../store/account.ts';
import { shortTime } from '../words/short.ts';
import { words } from '../words/words.ts';
import { folderName } from './folder-name.ts';
import { useFound } from './found.ts';
import { RowMenu } from './row-menu.tsx';

const Subagents = later(async () => (await import('./subagents.tsx')).Subagents);

interface ListProps {
  readonly account: PageAccount;
  readonly place: PagePlace;
}

export function List({ account, place }: ListProps) {
  const [search, setSearch] = useState('');
  const [archived, setArchived] = useState(false);
  const found = useFound(account, search, archived);
  useLive(account.live, LIST);
  const id = place.at === 'conversation' ? place.id : undefined;
  const hasMore = !found && account.cursor !== null;
  const items = found?.items ?? account.listed;
  // A search and the archive keep the server's order.
  const [first = [], agents = [], others = []] = found ? [items] : groupsOf(items);
  const rows = (some: readonly ConversationInfo[]) =>
    some.map((item) => <Row key={item.id} item={item} account={account} isOpen={item.id === id} />);
  return (
    <>
      <div class="find">
        <input
          type="search"
          placeholder={words.search}
          aria-label={words.search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <button type="button" aria-pressed={archived} onClick={() => setArchived(!archived)}>
          {words.showArchived}
        </button>
      </div>
      <ul class="list">
        {rows(first)}
        {agents.length > 0 && (
          <li class="agents">
            <details open={agents.some((agent) => agent.running || agent.id === id)}>
              <summary>
                {words.agents} · {agents.length}
              </summary>
              <ul>{rows(agents)}</ul>
            </details>
          </li>
        )}
        {rows(others)}
      </ul>
      {items.length === 0 && account.link === 'live' && (
        <p class="hint">{found ? words.nothingFound : words.noConversations}</p>
      )}
      {hasMore && (
        <button type="button" onClick={() => void account.readMore()}>
          {words.loadMore}
        </button>
      )}
    </>
  );
}

/** What waits for a person, whatever it is; then the background agents; then all other conversations. */
function groupsOf(items: readonly ConversationInfo[]) {
  const placeOf = (item: ConversationInfo) => (waitingIn(item) > 0 ? 0 : item.agent ? 1 : 2);
  return [0, 1, 2].map((place) => items.filter((item) => placeOf(item) === place));
}

interface RowProps {
  readonly item: ConversationInfo;
  readonly account: PageAccount;
  readonly isOpen: boolean;
}

function Row({ item, account, isOpen }: RowProps) {
  const { id, title, updated, agent, running, bridgeId } = item;
  const bridge = account.bridgeOf(bridgeId);
  const count = waitingIn(item);
  return (
    <li>
      <a href={linkTo({ at: 'conversation', id })} aria-current={isOpen ? 'page' : undefined}>
        <span class="title">{inOneLine(title)}</span>
        <span class="about hint">
          {bridge && (
            <span class={account.stateOf(bridge) === 'online' ? 'on' : 'off'}>
              {folderName(bridge.workspacePath)}
            </span>
          )}
          {agent && <span>{words.agentStatus[agent] ?? agent}</span>}
          {running && !agent && count === 0 && (
            <span class="running">{words.status['streaming']}</span>
          )}
          <time dateTime={updated}>{shortTime(updated)}</time>
        </span>
        {count > 0 && <b class="badge">{count}</b>}
      </a>
      <RowMenu item={item} account={account} />
      {item.subagents && <FoldedSubagents account={account} conversationId={id} />}
    </li>
  );
}

interface FoldedSubagentsProps {
  readonly account: PageAccount;
  readonly conversationId: string;
}

function FoldedSubagents({ account: { client }, conversationId }: FoldedSubagentsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="subagents" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary>{words.subagents}</summary>
      {isOpen && <Subagents client={client} conversationId={conversationId} />}
    </details>
  );
}
