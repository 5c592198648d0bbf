/** `ask_question`: its questions, and the result that an answer gives. Pure. */
import type * as z from 'zod';
import { DrawbridgeError } from '../../../../shared/errors.ts';
import type { askQuestion } from '../../../../shared/tools/ask-question.ts';
import type { Answer, ClarificationMetadata, Question } from '../../../../shared/wire/documents.ts';
import { failure, type ToolResult } from '../../../../shared/wire/tunnel.ts';

/** The questions; the refusal of those with equal ids, or with options that have. */
export function questionsOf({
  questions,
}: z.output<typeof askQuestion.arguments>): Question[] | ToolResult {
  const isAmbiguous = hasTwins(questions) || questions.some(({ options }) => hasTwins(options));
  if (isAmbiguous) {
    const data = 'Two questions, or two options of one question, have the same id.';
    return failure('INVALID_ARGUMENTS', data);
  }
  return questions.map(({ id, prompt, options, allow_multiple: allowMultiple }) => ({
    id,
    text: prompt,
    options,
    ...(allowMultiple !== undefined && { allowMultiple }),
  }));
}

function hasTwins(items: readonly { id: string }[]): boolean {
  return new Set(items.map(({ id }) => id)).size < items.length;
}

/** @throws {DrawbridgeError} `INVALID_REQUEST` for an answer that does not fit the questions. */
export function answerQuestions(
  questions: readonly Question[],
  answers: readonly Answer[],
): ToolResult {
  for (const [index, answer] of answers.entries()) checkAnswer(questions, answers, answer, index);
  const given = answers.filter(({ optionIds, text }) => optionIds.length > 0 || text);
  return {
    status: 'success',
    data: questions.map((question) => formatAnswer(question, given)).join('\n'),
    metadata: { questions, answers: given } satisfies QuestionMetadata,
  };
}

/** The result when no one answers and the request asks for default answers: each question gets its first option. */
export function answerByDefault(questions: readonly Question[]): ToolResult {
  const answers = questions.map(({ id, options }) => ({
    questionId: id,
    optionIds: options.slice(0, 1).map((option) => option.id),
  }));
  const { data, ...answered } = answerQuestions(questions, answers);
  return { ...answered, data: `No one answered in time. The first options count:\n${data}` };
}

/** The result when the user sends a message instead of an answer. */
export function passOver(questions: readonly Question[]): ToolResult {
  return {
    status: 'success',
    data: 'The user did not choose, but wrote a message, which follows. Finish without an answer.',
    metadata: { questions, answers: [] } satisfies QuestionMetadata,
  };
}

type QuestionMetadata = { readonly [Field in keyof ClarificationMetadata]: unknown };

function checkAnswer(
  questions: readonly Question[],
  answers: readonly Answer[],
  { questionId, optionIds }: Answer,
  index: number,
): void {
  const question = questions.find(({ id }) => id === questionId);
  const where = `answers[${index}]`;
  if (!question) throw invalid(`${where}.questionId: there is no question ${questionId}`);
  if (answers.findIndex((other) => other.questionId === questionId) !== index) {
    throw invalid(`${where}.questionId: ${questionId} is answered twice`);
  }
  const unknown = optionIds.find((id) => !question.options.some((option) => option.id === id));
  if (unknown !== undefined) throw invalid(`${where}.optionIds: there is no option ${unknown}`);
  if (optionIds.length > 1 && !question.allowMultiple) {
    throw invalid(`${where}.optionIds: only one option can be chosen`);
  }
}

function formatAnswer({ id, text: question, options }: Question, answers: readonly Answer[]) {
  const answer = answers.find(({ questionId }) => questionId === id);
  const chosen = options.filter((option) => answer?.optionIds.includes(option.id));
  const words = [...chosen.map((option) => `${option.label} (${option.id})`), answer?.text ?? ''];
  const said = words.filter((word) => word !== '').join('; ');
  return `${question}\n-> ${said === '' ? 'no answer: decide yourself' : said}`;
}

function invalid(message: string): DrawbridgeError {
  return new DrawbridgeError('INVALID_REQUEST', message);
}
