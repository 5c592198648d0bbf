/** The button of a conversation in the list, behind which is all that can be done with it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConversationInfo } from '../../client/index.ts';
import { later } from '../later.tsx';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/words.ts';

const Actions = later(async () => (await import('./row-actions.tsx')).Actions);

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
          <Actions item={item} account={account} close={() => setOpen(false)} />
        </div>
      )}
    </div>
  );
}
