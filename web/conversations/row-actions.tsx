/** What can be done with a conversation of the list. */
import type { ConversationInfo } from '../../client/index.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { download } from '../parts/download.ts';
import { go, placeOf } from '../route.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { stopAnswers } from './stop.ts';

interface ActionsProps {
  readonly item: ConversationInfo;
  readonly account: PageAccount;
  close(): void;
}

export function Actions({ item, account, close }: ActionsProps) {
  const act = (work: () => Promise<unknown>) => () => {
    close();
    void work();
  };
  return (
    <>
      {actionsOf(item, account).map(({ text, work }) => (
        <button key={text} type="button" onClick={act(work)}>
          {text}
        </button>
      ))}
    </>
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
    { text: words.sendWhole, work: () => client.sendWhole(id) },
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
