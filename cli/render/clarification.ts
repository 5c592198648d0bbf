/** Shows the agent's questions with numbered options, and the answers. */
import * as z from 'zod';
import { EDGE_TOOL_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import { Answer, Question } from '../../shared/wire/documents.ts';
import { isUnanswered } from '../../shared/wire/fold.ts';
import type { Paint } from '../terminal/paint.ts';
import type { Pen } from './pen.ts';
import type { Shown } from './shown.ts';
import { type Drawing, writeTextEvent } from './text.ts';

export function writeClarificationEvent(drawing: Drawing): void {
  const { pen, shown, event, place, paint } = drawing;
  writeTextEvent(drawing);
  const wasAsked = place.before !== undefined && isUnanswered(place.before.metadata);
  if (event.type === 'clarification_request') writeQuestions(pen, questionsOf(shown), paint);
  if (event.type !== 'document_end') return;
  if (!wasAsked) writeQuestions(pen, questionsOf(shown), paint);
  writeAnswers(pen, shown, paint);
}

/** Each question with its numbered options. */
export function writeQuestions(pen: Pen, questions: readonly Question[], paint: Paint): void {
  for (const { text, options, allowMultiple } of questions) {
    pen.gap();
    const several = allowMultiple ? paint('dim', ' (several may be chosen)') : '';
    pen.write(`${paint('yellow', `? ${inLine(text)}`)}${several}\n`);
    for (const [index, { label }] of options.entries()) {
      pen.write(`  ${index + 1}  ${inLine(label)}\n`);
    }
  }
}

/** One line for each question, in order. Nothing if the run ended without an answer. */
function writeAnswers(pen: Pen, shown: Shown, paint: Paint): void {
  const answers = z.array(Answer).safeParse(shown.metadata['answers']).data;
  if (!answers) return;
  pen.line();
  for (const question of questionsOf(shown)) {
    pen.write(`${paint('dim', `→ ${answerTo(question, answers)}`)}\n`);
  }
}

/** What a person answered to one of the questions, on one line. */
export function answerTo(question: Question, answers: readonly Answer[]): string {
  const answer = answers.find(({ questionId }) => questionId === question.id);
  return answer ? inLine(wordsOf(question, answer)) : 'skipped';
}

function wordsOf({ options }: Question, { optionIds, text }: Answer): string {
  const labels = options.filter(({ id }) => optionIds.includes(id)).map(({ label }) => label);
  return [...labels, ...(text ? [text] : [])].join('; ');
}

function questionsOf({ metadata }: Shown): Question[] {
  return z.array(Question).safeParse(metadata['questions']).data ?? [];
}

function inLine(text: string): string {
  return printableLine(text, EDGE_TOOL_LIMITS.maxTodoChars);
}
