/** The agent's questions, with the answers that a person gave. */
import type { Component } from '@earendil-works/pi-tui';
import {
  type Answer,
  ClarificationMetadata,
  type Question,
} from '../../../shared/wire/documents.ts';
import { isUnanswered } from '../../../shared/wire/fold.ts';
import { answerTo } from '../../render/clarification.ts';
import type { Paint } from '../../terminal/paint.ts';
import { Cached } from './cached.ts';
import type { ScreenDocumentProps } from './document-props.ts';
import { INDENT, indented, wrapped } from './lines.ts';

/** The options of an open question stand in its dialog. */
export function questionsPart({ document, look: { paint } }: ScreenDocumentProps): Component {
  return new Cached((width) => {
    const { content, metadata } = document;
    const { questions = [], answers } = Asked.safeParse(metadata).data ?? {};
    return [
      ...(content ? wrapped(content, width) : []),
      ...questions.flatMap((question) => questionLines(question, answers, width, paint)),
      ...(isUnanswered(metadata) ? indented([paint('yellow', '? This waits for you.')]) : []),
    ];
  });
}

const Asked = ClarificationMetadata.partial();

function questionLines(
  question: Question,
  answers: readonly Answer[] | undefined,
  width: number,
  paint: Paint,
): string[] {
  const asked = wrapped(`? ${question.text}`, width).map((line) => paint('yellow', line));
  if (!answers) return asked;
  const words = wrapped(`→ ${answerTo(question, answers)}`, width - INDENT.length);
  return [...asked, ...indented(words)];
}
