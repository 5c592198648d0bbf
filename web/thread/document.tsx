/** One document of an answer, by its type. */
import type { FunctionComponent } from 'preact';
import type { ChatResponse, Document, DocumentType } from '../../client/index.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { Asks } from '../inbox/asks.tsx';
import { once, useLive } from '../live.ts';
import { Code } from '../parts/code.tsx';
import { Markdown } from '../parts/markdown.tsx';
import { documentKey, type Thread } from '../store/thread.ts';
import { words } from '../words/thread.ts';
import { Command } from './command.tsx';
import { type DocumentProps, textIn } from './document-props.ts';
import { FileEdit } from './file-edit.tsx';
import { PlanPart } from './plan.tsx';
import { TodoUpdate } from './todos.tsx';
import { ToolCall } from './tool-call.tsx';

interface PartProps {
  readonly item: Document;
  readonly response: ChatResponse;
  readonly thread: Thread;
}

export const DocumentPart = once(({ item: document, response, thread }: PartProps) => {
  useLive(thread.host.live, documentKey(response.id, document.id));
  const Part = PARTS[document.type] ?? Unknown;
  // Several calls can run at once, and each knows when it has ended.
  const isCall = Part === Command || Part === ToolCall;
  const isLast = response.documents.at(-1) === document;
  const isOpen = !isOver(response.status) && (isCall || isLast);
  return (
    <div class={`document ${document.type}`}>
      <Part document={document} response={response} thread={thread} isOpen={isOpen} />
      <Asks document={document} response={response} thread={thread} />
    </div>
  );
});

/** A later server may send more types than these. */
const PARTS: Readonly<Record<DocumentType, FunctionComponent<DocumentProps>>> = {
  text: ({ document, isOpen }) => <Markdown text={document.content ?? ''} isOpen={isOpen} />,
  reasoning: ({ document }) => (
    <details>
      <summary>{words.reasoning}</summary>
      <p class="said">{document.content}</p>
    </details>
  ),
  code_block: ({ document: { content, metadata }, isOpen }) => (
    <Code text={content ?? ''} language={textIn(metadata, 'language')} isOpen={isOpen} />
  ),
  code_reference: ({ document: { content, metadata }, isOpen }) => {
    const [start, end] = [Number(metadata['startLine']), Number(metadata['endLine'])];
    return (
      <figure>
        <figcaption>
          <code>{textIn(metadata, 'filePath')}</code> {words.lines(start, end)}
        </figcaption>
        <Code
          text={content ?? ''}
          language={textIn(metadata, 'language')}
          isOpen={isOpen}
          firstLine={start}
        />
      </figure>
    );
  },
  file_edit: FileEdit,
  terminal_command: Command,
  tool_call: ToolCall,
  plan: PlanPart,
  clarification: ({ document }) => <Answered document={document} />,
  error: Failure,
  todo_update: TodoUpdate,
};

/** What ended the answer is an alert. What a call failed with stands at the call too, and the model goes on with it. */
function Failure({ document: { content, metadata }, response }: DocumentProps) {
  const details = textIn(metadata, 'details');
  const rest = (
    <p class="hint">
      {content !== details && details} {textIn(metadata, 'errorCode')} {textIn(metadata, 'traceId')}
    </p>
  );
  if (response.status === 'error') {
    return (
      <div role="alert">
        <p>{content ?? details}</p>
        {rest}
      </div>
    );
  }
  return (
    <details>
      <summary>{content ?? details}</summary>
      {rest}
    </details>
  );
}

function Unknown({ document }: DocumentProps) {
  return (
    <div>
      <p class="hint">{words.unknownDocument(document.type)}</p>
      {document.content !== null && <p class="said">{document.content}</p>}
    </div>
  );
}

/** Questions with the answers that a person gave; open ones are forms. */
function Answered({ document }: Pick<DocumentProps, 'document'>) {
  const { content, metadata } = document;
  const { questions = [], answers = [] } = metadata as {
    questions?: readonly {
      id: string;
      text: string;
      options: readonly { id: string; label: string }[];
    }[];
    answers?: readonly { questionId: string; optionIds: readonly string[]; text?: string }[];
  };
  return (
    <div>
      {content && <p>{content}</p>}
      {metadata['awaiting'] !== true &&
        questions.map(({ id, text, options }) => {
          const answer = answers.find(({ questionId }) => questionId === id);
          const chosen = options.filter((option) => answer?.optionIds.includes(option.id));
          const given = [...chosen.map(({ label }) => label), answer?.text].filter(Boolean);
          return (
            <p key={id}>
              {text} <b>{given.join(', ') || '—'}</b>
            </p>
          );
        })}
    </div>
  );
}
