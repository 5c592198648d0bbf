/** What a document asks a person: an approval, questions, and those of subagents below it. */
import { asksOf, type ChatResponse, type Document } from '../../client/index.ts';
import type { OpenApproval, OpenQuestions } from '../../shared/wire/approvals.ts';
import { isUnanswered } from '../../shared/wire/fold.ts';
import type { Thread } from '../store/thread.ts';
import { AnsweredLine, answeredIn } from './answered-line.tsx';
import { Questions } from './questions.tsx';

interface AsksProps {
  readonly document: Document;
  readonly response: ChatResponse;
  readonly thread: Thread;
}

export function Asks({ document, response, thread }: AsksProps) {
  const { host } = thread;
  const { Approval } = host;
  const { metadata } = document;
  const place = {
    conversationId: thread.id,
    title: thread.view?.title ?? '',
    responseId: response.id,
    documentId: document.id,
  };
  const answered = metadata['approval'] === undefined ? answeredIn(document) : undefined;
  const line = answered && <AnsweredLine {...answered} />;
  if (response.status !== 'waiting') return line ?? null;
  return (
    <>
      {line}
      {metadata['approval'] !== undefined && (
        <Approval
          item={{ ...(metadata['approval'] as Omit<OpenApproval, keyof typeof place>), ...place }}
        />
      )}
      {isUnanswered(metadata) && (
        <Questions
          item={{
            ...place,
            questions: (metadata['questions'] ?? []) as OpenQuestions['questions'],
          }}
          host={host}
        />
      )}
      {asksOf(metadata).map((ask) =>
        ask.kind === 'approval' ? (
          <Approval key={ask.nonce} item={ask} />
        ) : (
          <Questions key={ask.documentId} item={ask} host={host} />
        ),
      )}
    </>
  );
}
