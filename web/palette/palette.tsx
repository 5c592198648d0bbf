/** Goes to any conversation or place, and acts on the open conversation, by typing. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ConversationInfo } from '../../client/index.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { folderName } from '../conversations/folder-name.ts';
import { useFound } from '../conversations/found.ts';
import { actionsOf } from '../conversations/row-actions.tsx';
import { useLive } from '../live.ts';
import { isOfInputMethod } from '../parts/input-method.ts';
import { go, type PagePlace } from '../route.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import { words } from '../words/words.ts';

interface PaletteProps {
  readonly account: PageAccount;
  readonly place: PagePlace;
  close(): void;
}

interface PaletteItem {
  /** Absent: the text. */
  readonly key?: string;
  readonly text: string;
  readonly about?: string | undefined;
  work(): unknown;
}

/** The most that are shown: a person types on. */
const MAX_ITEMS = 30;

export function Palette({ account, place, close }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const found = useFound(account, typed, false);
  useLive(account.live, LIST);
  // Before the next key can go elsewhere.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // Chromium gives the focus back to a field whose keys then write nothing.
    return () => {
      if (before instanceof HTMLElement) setTimeout(() => refocus(before));
    };
  }, []);
  const items = itemsFor(account, place, typed, found?.items ?? []);
  const chosen = Math.min(active, items.length - 1);
  useEffect(() => {
    document.getElementById(optionId(chosen))?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const run = (item: PaletteItem | undefined) => {
    if (!item) return;
    dialog.current?.close();
    void item.work();
  };
  const takeKey = (event: KeyboardEvent) => {
    if (isOfInputMethod(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActive((chosen + step + items.length) % items.length);
    else if (event.key === 'Enter') run(items[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label={words.palette} onClose={close}>
      <input
        role="combobox"
        aria-expanded={items.length > 0}
        aria-controls="palette"
        aria-activedescendant={items.length > 0 ? optionId(chosen) : undefined}
        aria-autocomplete="list"
        aria-label={words.palette}
        placeholder={words.palette}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value);
          setActive(0);
        }}
        onKeyDown={takeKey}
      />
      <div id="palette" role="listbox" aria-label={words.palette} tabIndex={-1}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and takes the keys.
          <div
            key={item.key ?? item.text}
            id={optionId(index)}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => run(item)}
          >
            {item.text} <span class="hint">{item.about}</span>
          </div>
        ))}
      </div>
      {items.length === 0 && <p class="hint">{words.nothingFound}</p>}
    </dialog>
  );
}

/** Unless the work has moved the focus. */
function refocus(element: HTMLElement): void {
  if (document.activeElement !== element) return;
  element.blur();
  element.focus();
}

const optionId = (index: number) => `palette-${index}`;

/** What has all typed words, in any order; then what the server finds in texts. */
function itemsFor(
  account: PageAccount,
  place: PagePlace,
  typed: string,
  found: readonly ConversationInfo[],
): readonly PaletteItem[] {
  const wanted = typed.toLowerCase().split(/\s+/);
  const fits = ({ text, about = '' }: PaletteItem) =>
    wanted.every((word) => `${text} ${about}`.toLowerCase().includes(word));
  const open = place.at === 'conversation' ? account.conversations.get(place.id) : undefined;
  const actions: readonly PaletteItem[] = open ? actionsOf(open, account) : [];
  const shown = (list: readonly ConversationInfo[]) => list.map((each) => toItem(account, each));
  const known = [...PLACES, ...actions, ...shown(account.listed)].filter(fits);
  const byKey = new Map([...known, ...shown(found)].map((item) => [item.key ?? item.text, item]));
  return [...byKey.values()].slice(0, MAX_ITEMS);
}

const PLACES: readonly PaletteItem[] = [
  { text: words.newConversation, work: () => go({ at: 'new' }) },
  { text: words.inbox, work: () => go({ at: 'inbox' }) },
  { text: words.settings, work: () => go({ at: 'settings' }) },
];

function toItem(account: PageAccount, { id, title, bridgeId }: ConversationInfo): PaletteItem {
  const { workspacePath } = account.bridgeOf(bridgeId) ?? {};
  const about = workspacePath && folderName(workspacePath);
  return { key: id, text: inOneLine(title), about, work: () => go({ at: 'conversation', id }) };
}
