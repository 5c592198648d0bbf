/** One answer: its documents in order, with the messages that steered it, and what it took. */
import { useState } from 'preact/hooks';
import type { ChatResponse, Document, UserMessage } from '../../client/index.ts';
import { factsOf, fenceInfoOf } from '../../shared/wire/document-types.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { once, useLive } from '../live.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { responseKey, type Thread } from '../store/thread.ts';
import { shortCost, shortNumber } from '../words/short.ts';
import { words } from '../words/thread.ts';
import { DocumentPart } from './document.tsx';
import { Message } from './message.tsx';
import { Undo } from './undo.tsx';

interface ResponseProps {
  readonly item: ChatResponse;
  readonly thread: Thread;
}

export const Response = once(({ item: response, thread }: ResponseProps) => {
  useLive(thread.host.live, responseKey(response.id));
  const { metadata } = response;
  return (
    <div class="response">
      <h2 class="who">{thread.isSubagent ? words.subagent : words.agent}</h2>
      {partsOf(response, thread).map(({ document, message }) =>
        document ? (
          <DocumentPart key={document.id} item={document} response={response} thread={thread} />
        ) : (
          <Message key={message.created} message={message} thread={thread} isWaiting={false} />
        ),
      )}
      {(metadata.unavailableTools ?? []).map(({ name, reason }) => (
        <p class="hint" key={name}>
          {words.unavailable} {name}. {reason}
        </p>
      ))}
      {isOver(response.status) && <Footer response={response} thread={thread} />}
    </div>
  );
});

type ResponsePart =
  | { readonly document: Document; readonly message?: undefined }
  | { readonly document?: undefined; readonly message: UserMessage };

/** Each message that steers comes after the last document that the model wrote without it. */
function partsOf({ id, documents }: ChatResponse, { view }: Thread): readonly ResponsePart[] {
  const said = view?.messages.filter(({ steers, responseId }) => steers && responseId === id) ?? [];
  const placed = [
    ...documents.map((document) => ({ at: document.sequence, part: { document } })),
    ...said.map((message) => ({
      at: (message.afterSequence ?? Number.POSITIVE_INFINITY) + BETWEEN,
      part: { message },
    })),
  ];
  return placed.sort((one, other) => one.at - other.at).map(({ part }) => part);
}

/** Between two sequences, which are whole numbers. */
const BETWEEN = 0.5;

function Footer({
  response,
  thread,
}: {
  readonly response: ChatResponse;
  readonly thread: Thread;
}) {
  const [isUndoing, setUndoing] = useState(false);
  const { id, status, model, usage, documents } = response;
  const { again, fork, run } = thread.host;
  const message = thread.view?.messages.find(
    ({ responseId, steers }) => responseId === id && !steers,
  );
  const hasChanges = documents.some(
    ({ type }) => type === 'file_edit' || type === 'terminal_command',
  );
  const takesMore = !thread.isSubagent;
  const { cost } = usage ?? {};
  return (
    <footer class="took">
      {status !== 'completed' && <b>{words.status[status]}</b>}
      <span>{model}</span>
      {usage && <span>{words.tokens(shortNumber(usage.totalTokens))}</span>}
      {cost && <span>{shortCost(cost)}</span>}
      {status === 'error' && message && takesMore && (
        <button type="button" onClick={() => run(() => again(thread, message))}>
          {words.tryAgain}
        </button>
      )}
      <CopyButton text={() => textOf(documents)} />
      {fork && (
        <button type="button" title={words.forkHelp} onClick={() => run(() => fork(thread, id))}>
          {words.fork}
        </button>
      )}
      {hasChanges && takesMore && (
        <button type="button" title={words.undoHelp} onClick={() => setUndoing(!isUndoing)}>
          {words.undo}
        </button>
      )}
      {isUndoing && <Undo response={response} thread={thread} close={() => setUndoing(false)} />}
    </footer>
  );
}

/** The answer as its Markdown source. `renderWords`, which also takes growing text, is 0.6 KB more for the element. */
function textOf(documents: readonly Document[]): string {
  const parts = documents.flatMap((document) => {
    const { content, type, metadata } = document;
    if (!content || factsOf(type).voice !== 'answer') return [];
    const info = fenceInfoOf(document);
    const fence = '`'.repeat(Number(metadata['fenceLength'] ?? 3));
    return info === null ? content : `${fence}${info}\n${content}\n${fence}`;
  });
  return parts.join('\n\n');
}
