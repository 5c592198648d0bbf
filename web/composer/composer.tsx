/** Where a person writes: text, images, the mode, the model, and for a new conversation the machine. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ChatInput, ClientError, type FoundFile } from '../../client/index.ts';
import { withChosen } from '../../shared/text/mention-text.ts';
import { useLive } from '../live.ts';
import { isOfInputMethod } from '../parts/input-method.ts';
import { go, placeOf } from '../route.ts';
import { LIST, type PageAccount } from '../store/account.ts';
import { THREAD, type Thread } from '../store/thread.ts';
import { words } from '../words/words.ts';
import { chooseMode, MachineState, Machines, Models, Modes, useModeOf } from './choices.tsx';
import type { ComposerCommand } from './commands.ts';
import { readDraft, writeDraft } from './draft.ts';
import { fits, type Picture, picturesIn } from './images.ts';
import { attributesOf, OfferList, useOffers } from './offers.tsx';
import { Pending } from './pending.tsx';

interface ThreadComposerProps {
  readonly account: PageAccount;
  /** Absent: the first message begins a conversation. */
  readonly thread?: Thread;
}

export function Composer({ account, thread }: ThreadComposerProps) {
  const { live } = account;
  useLive(live, thread ? THREAD : LIST);
  useModeOf(thread?.current);
  const field = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const place = thread?.id ?? 'new';
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const [problem, setProblem] = useState('');
  const [chosen, setChosen] = useState<string>();
  useEffect(() => {
    if (!field.current) return;
    field.current.value = readDraft(place);
    // On a phone that would open the keyboard over what is to be read.
    if (!isTouch) field.current.focus();
  }, [place]);
  const add = async (files: Iterable<File>) => {
    const given = [...files];
    const added = await picturesIn(given);
    setPictures((old) => [...old, ...added]);
    setProblem(added.length < given.length ? words.notAnImage : '');
  };
  const send = async (delivery: 'queue' | 'steer') => {
    const text = field.current?.value ?? '';
    if (!form.current || (text.trim() === '' && pictures.length === 0)) return;
    if (!fits(text, pictures)) return setProblem(words.imageTooLarge);
    const said = withChosen(text, offers.chosen);
    const input = inputOf(new FormData(form.current), said, pictures, delivery);
    const where = thread ? { conversationId: thread.id, delivery } : {};
    take('', []);
    try {
      const { conversationId } = await account.outbox.send({ ...input, ...where });
      // A message written offline is sent later. By then the person may read something else.
      if (!thread && isAtNew()) go({ at: 'conversation', id: conversationId });
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      // What was refused comes back, with what was typed meanwhile behind it.
      const since = field.current?.value ?? '';
      take([text, since].filter(Boolean).join('\n'), pictures);
      setProblem(`${words.refused} ${error.message}`);
    }
  };
  const offers = useOffers({
    field,
    isInThread: thread !== undefined,
    skills: () => account.skills.get(bridgeOf(thread, form.current) ?? '') ?? [],
    run: (command) => void run(command),
    findFiles: (query, signal) => findFiles(account, bridgeOf(thread, form.current), query, signal),
    onWritten: (text) => writeDraft(place, text),
  });
  const run = async (command: ComposerCommand) => {
    take(command.text ?? '', pictures);
    if (command.mode !== undefined) chooseMode(command.mode);
    await command.run?.(account, thread);
    field.current?.focus();
  };
  const take = (text: string, images: readonly Picture[]) => {
    if (field.current) field.current.value = text;
    writeDraft(place, text);
    setPictures(images);
    setProblem('');
    offers.close();
  };
  const bridgeId = thread ? thread.view?.bridgeId : chosen;
  const isBusy = thread?.isBusy ?? false;
  const stop = () => {
    const running = thread?.current;
    if (running) void account.client.cancel(running.id);
  };
  return (
    <form
      ref={form}
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send('queue');
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void add(event.dataTransfer?.files ?? []);
      }}
    >
      {!thread && <Pending host={account} conversationId={undefined} />}
      {problem && <p role="alert">{problem}</p>}
      <MachineState account={account} bridgeId={bridgeId} isNew={!thread} />
      {pictures.length > 0 && (
        <ul class="pictures">
          {pictures.map((picture) => (
            <li key={picture.url}>
              <img src={picture.url} alt={picture.name} />
              <button
                type="button"
                aria-label={words.removeImage}
                onClick={() => setPictures(pictures.filter((each) => each !== picture))}
              >
                ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <OfferList offers={offers} />
      <textarea
        ref={field}
        name="text"
        rows={1}
        aria-label={words.message}
        placeholder={words.message}
        {...attributesOf(offers)}
        // On a phone the keyboard's return key makes a new line, as everywhere there.
        enterkeyhint={isTouch ? 'enter' : 'send'}
        onInput={({ currentTarget: { value } }) => {
          writeDraft(place, value);
          void offers.look();
        }}
        onClick={() => void offers.look()}
        onKeyUp={({ key }) => {
          if (key === 'ArrowLeft' || key === 'ArrowRight') void offers.look();
        }}
        onBlur={offers.close}
        onPaste={(event) => {
          const files = event.clipboardData?.files;
          if (!files?.length) return;
          event.preventDefault();
          void add(files);
        }}
        onKeyDown={(event) => {
          if (offers.takeKey(event)) return event.preventDefault();
          if (event.key !== 'Enter' || event.shiftKey || isOfInputMethod(event) || isTouch) return;
          event.preventDefault();
          void send('queue');
        }}
      />
      <div class="controls">
        <label class="attach" title={words.attach}>
          <span aria-hidden="true">+</span>
          <input
            type="file"
            class="hidden"
            aria-label={words.attach}
            accept="image/png,image/jpeg,image/webp,image/gif"
            multiple
            onChange={(event) => {
              void add(event.currentTarget.files ?? []);
              event.currentTarget.value = '';
            }}
          />
        </label>
        {!thread && <Machines account={account} onChoice={setChosen} />}
        <Modes account={account} bridgeId={bridgeId} />
        <Models account={account} />
        <span class="sending">
          {isBusy && (
            <>
              <button
                type="button"
                class="with-text"
                title={words.steerHelp}
                onClick={() => void send('steer')}
              >
                {words.steer}
              </button>
              <button type="button" class="stop" onClick={stop}>
                {words.stop}
              </button>
            </>
          )}
          <button
            type="submit"
            class={isBusy ? 'main with-text' : 'main'}
            title={isBusy ? words.queueHelp : ''}
          >
            {isBusy ? words.queue : words.send}
          </button>
        </span>
      </div>
    </form>
  );
}

function isAtNew(): boolean {
  const { at } = placeOf(location.hash);
  return at === 'new' || at === 'list';
}

const isTouch = matchMedia('(pointer: coarse)').matches;

/** Of the conversation, or of the choice for a new one. */
function bridgeOf(thread: Thread | undefined, form: HTMLFormElement | null): string | undefined {
  if (thread) return thread.view?.bridgeId ?? undefined;
  const choice = form?.elements.namedItem('bridge');
  return choice instanceof HTMLSelectElement ? choice.value : undefined;
}

/** Nothing where the machine cannot be asked. */
async function findFiles(
  { client, bridges }: PageAccount,
  bridgeId: string | undefined,
  query: string,
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  const bridge = bridges.find(({ id }) => id === bridgeId);
  if (!bridge?.connected || bridge.shared) return [];
  try {
    return (await client.findFiles(bridge.id, query, signal)).items;
  } catch (error) {
    if (error instanceof ClientError) return [];
    throw error;
  }
}

/** A message that steers takes the settings of the answer that it steers. */
function inputOf(
  given: FormData,
  said: ReturnType<typeof withChosen>,
  pictures: readonly Picture[],
  delivery: 'queue' | 'steer',
): ChatInput {
  const [mode, model, bridgeId] = ['mode', 'model', 'bridge'].map(
    (name) => given.get(name) || undefined,
  );
  const images = pictures.map(({ url }) => ({ type: 'image_url' as const, image_url: { url } }));
  const words = typeof said === 'string' ? [{ type: 'text' as const, text: said }] : said;
  const content = images.length === 0 ? said : [...words, ...images];
  const messages: ChatInput['messages'] = [{ role: 'user', content }];
  if (delivery === 'steer') return { messages };
  return {
    messages,
    include: ['reasoning'],
    ...(mode !== undefined && { mode: String(mode) }),
    ...(model !== undefined && { model: String(model) }),
    ...(bridgeId !== undefined && { bridgeId: String(bridgeId) }),
  };
}
