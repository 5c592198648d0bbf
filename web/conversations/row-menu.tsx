/** What can be done with a conversation of the list. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConversationInfo } from '../../client/index.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { download } from '../parts/download.ts';
import { go, placeOf } from '../route.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import { words } from '../words/words.ts';
import { stopAnswers } from './stop.ts';

interface RowMenuProps {
  readonly item: ConversationInfo;
  readonly account: PageAccount;
}

export function RowMenu({ item, account }: RowMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event) => {
      const isInside = menu.current?.contains(event.target as Node);
      const isKey = event instanceof KeyboardEvent;
      if (isKey ? event.key !== 'Escape' : isInside) return;
      setOpen(false);
      if (isKey) opener.current?.focus();
    };
    const left = new AbortController();
    for (const name of ['pointerdown', 'keydown']) addEventListener(name, close, left);
    return () => left.abort();
  }, [isOpen]);
  const act = (work: () => Promise<unknown>) => () => {
    setOpen(false);
    void work();
  };
  return (
    <div class="menu" ref={menu}>
      <button
        type="button"
        ref={opener}
        aria-label={words.more}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        ⋯
      </button>
      {isOpen && (
        <div class="items">
          {actionsOf(item, account).map(({ text, work }) => (
            <button key={text} type="button" onClick={act(work)}>
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** What a person can do with a conversation, wherever it is offered. */
export function actionsOf(
  { id, title, archived, agent, running }: ConversationInfo,
  account: PageAccount,
) {
  const { client } = account;
  const change = async (patch: { title?: string; archived?: boolean }) => {
    account.conversations.set(id, await client.updateConversation(id, patch));
    account.live.touch(LIST);
  };
  const end = () => (agent ? client.changeAgent(id, 'stop') : stopAnswers(client, id));
  return [
    ...(running ? [{ text: words.stop, work: end }] : []),
    {
      text: words.rename,
      work: async () => {
        const typed = prompt(words.renameTo, title)?.trim().slice(0, REQUEST_LIMITS.maxNameChars);
        if (typed) await change({ title: typed });
      },
    },
    {
      text: archived ? words.unarchive : words.archive,
      work: () => change({ archived: !archived }),
    },
    {
      text: words.exportMarkdown,
      work: async () => download(`${title}.md`, await client.exportMarkdown(id)),
    },
    {
      text: words.exportJson,
      work: async () =>
        download(`${title}.json`, JSON.stringify(await client.exportConversation(id), null, 2)),
    },
    {
      text: words.remove,
      work: async () => {
        if (!confirm(words.removeSure(title))) return;
        await client.deleteConversation(id);
        account.forget(id);
        const place = placeOf(location.hash);
        if (place.at === 'conversation' && place.id === id) go({ at: 'list' });
      },
    },
  ];
}
