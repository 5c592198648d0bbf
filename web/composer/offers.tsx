/** The list above the field: what the word at the cursor can become. */
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { FoundFile } from '../../client/index.ts';
import { mentionOf, openMention } from '../../shared/text/mention-text.ts';
import { isSubsequence } from '../../shared/text/subsequence.ts';
import { isOfInputMethod } from '../parts/input-method.ts';
import { words } from '../words/words.ts';
import { type ComposerCommand, commandsFor } from './commands.ts';

interface ComposerOffer {
  readonly name: string;
  readonly help: string;
  /** Absent for a command. */
  readonly path?: string;
  take(): void;
}

interface OfferingProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly isInThread: boolean;
  skills(): readonly ComposerCommand[];
  run(command: ComposerCommand): void;
  /** What of the machine's workspace fits the text. Rejects only once the signal has aborted. */
  findFiles(query: string, signal: AbortSignal): Promise<readonly FoundFile[]>;
  /** An offer has changed the text of the field. */
  onWritten(text: string): void;
}

type OffersNow = ReturnType<typeof useOffers>;

/** The offers for a field, which calls `look` after each change and each move of its cursor. */
export function useOffers({ field, isInThread, skills, run, findFiles, onWritten }: OfferingProps) {
  const [items, setItems] = useState<readonly ComposerOffer[]>([]);
  const [active, setActive] = useState(0);
  const looking = useRef(new AbortController());
  /** Where the word begins whose list the person has closed. */
  const closedAt = useRef<number | undefined>(undefined);
  /** The paths that the person has taken from the list. */
  const chosen = useRef(new Map<string, string>()).current;
  useEffect(() => () => looking.current.abort(), []);
  const show = (offers: readonly ComposerOffer[]) => {
    setItems(offers);
    setActive(0);
  };
  const look = async () => {
    looking.current.abort();
    looking.current = new AbortController();
    const { text, mention } = writtenIn(field.current);
    const commands = commandsFor(text, isInThread, skills());
    const at = commands.length > 0 ? 0 : mention?.at;
    if (at !== closedAt.current) closedAt.current = undefined;
    if (at === undefined || at === closedAt.current) return show([]);
    if (!mention) return show(commands.map((command) => commandOffer(command, run)));
    // The files of before that still fit stay, until the answer comes.
    const query = mention.query.toLowerCase();
    show(items.filter(({ path }) => path && isSubsequence(query, path.toLowerCase())));
    const { signal } = looking.current;
    try {
      await pause(signal);
      const files = await findFiles(mention.query, signal);
      signal.throwIfAborted();
      show(files.map((file) => fileOffer(file, write)));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  const write = (path: string) => {
    const { mention, cursor } = writtenIn(field.current);
    close();
    if (!field.current || !mention) return;
    const written = mentionOf(path);
    chosen.set(written, path);
    field.current.setRangeText(`${written} `, mention.at, cursor, 'end');
    onWritten(field.current.value);
  };
  const close = () => {
    looking.current.abort();
    closedAt.current = undefined;
    show([]);
  };
  /** Whether the key was for the list. */
  const takeKey = (event: KeyboardEvent): boolean => {
    const { key, shiftKey } = event;
    if (items.length === 0 || shiftKey || isOfInputMethod(event)) return false;
    const step = { ArrowDown: 1, ArrowUp: items.length - 1 }[key];
    if (step !== undefined) setActive((active + step) % items.length);
    else if (key === 'Enter' || key === 'Tab') items[active]?.take();
    else if (key === 'Escape') {
      close();
      closedAt.current = writtenIn(field.current).mention?.at ?? 0;
    } else return false;
    return true;
  };
  return { items, active, chosen, look, close, takeKey };
}

/** Milliseconds without a key before the machine is asked. */
const PAUSE_MS = 100;

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, PAUSE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

function writtenIn(field: HTMLTextAreaElement | null) {
  const { value: text = '', selectionStart: cursor = 0 } = field ?? {};
  return { text, cursor, mention: openMention(text.slice(0, cursor)) };
}

function commandOffer(command: ComposerCommand, run: OfferingProps['run']): ComposerOffer {
  return { name: `/${command.name}`, help: command.help, take: () => run(command) };
}

function fileOffer({ path, type }: FoundFile, write: (path: string) => void): ComposerOffer {
  return { name: path, help: words.offered[type], path, take: () => write(path) };
}

const LIST = 'offers';

/**
 * What a field with offers is to assistive technology. A textarea may not have the role of a combobox, but as a text box
 * it may have these.
 */
export function attributesOf({ items, active }: OffersNow) {
  if (items.length === 0) return { 'aria-autocomplete': 'list' } as const;
  return {
    'aria-autocomplete': 'list',
    'aria-haspopup': 'listbox',
    'aria-controls': LIST,
    'aria-activedescendant': `${LIST}-${active}`,
  } as const;
}

export function OfferList({ offers: { items, active } }: { readonly offers: OffersNow }) {
  const chosen = useRef<HTMLDivElement>(null);
  useEffect(() => chosen.current?.scrollIntoView({ block: 'nearest' }), [items, active]);
  if (items.length === 0) return null;
  return (
    // The field keeps the focus, and a phone its keyboard.
    <div
      id={LIST}
      class="offers"
      role="listbox"
      tabIndex={-1}
      aria-label={words.offers}
      onMouseDown={(event) => event.preventDefault()}
    >
      {items.map(({ name, help, take }, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and takes the keys.
        <div
          key={name}
          id={`${LIST}-${index}`}
          ref={index === active ? chosen : null}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          onClick={take}
        >
          <b>{name}</b> {help}
        </div>
      ))}
    </div>
  );
}
