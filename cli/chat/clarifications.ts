/** Asks the person the agent's questions; an answer is a number or text. */

import { REQUEST_LIMITS } from '../../shared/limits.ts';
import type { OpenQuestions } from '../../shared/wire/approvals.ts';
import type { Answer, Question } from '../../shared/wire/documents.ts';
import { type Chat, sayUnlessCounted } from './chat.ts';

/**
 * Asks one question after the other and sends the answers together. With `responseId` the answers count for that
 * response only. `refused` means that the server did not take the answers, and `open` that the person gave none.
 */
export async function askClarification(
  chat: Pick<Chat, 'client' | 'terminal' | 'conversationId'>,
  {
    documentId,
    questions,
    responseId,
  }: Pick<OpenQuestions, 'documentId' | 'questions'> & { readonly responseId?: string },
  signal: AbortSignal,
): Promise<'sent' | 'refused' | 'open'> {
  const answers: Answer[] = [];
  for (const [index, question] of questions.entries()) {
    const place = questions.length > 1 ? ` ${index + 1} of ${questions.length}` : '';
    const choice = await askUntilClear(chat, question, place, signal);
    if (!choice) return 'open';
    if (choice.type === 'answer') answers.push({ questionId: question.id, ...choice.answer });
  }
  const { client, conversationId = '' } = chat;
  const isTaken = await sayUnlessCounted(chat, () =>
    client.answerClarification(conversationId, documentId, {
      answers,
      ...(responseId !== undefined && { responseId }),
    }),
  );
  return isTaken ? 'sent' : 'refused';
}

async function askUntilClear(
  { terminal }: Pick<Chat, 'terminal'>,
  question: Question,
  place: string,
  signal: AbortSignal,
): Promise<Exclude<TypedChoice, { type: 'unclear' }> | undefined> {
  const how = question.allowMultiple ? 'numbers' : 'a number';
  const words = `Answer${place} (${how}, or your own words; Enter alone skips it): `;
  while (true) {
    const text = await terminal.ask(words, signal);
    if (text === undefined) return undefined;
    const choice = parseChoice(text, question);
    if (choice.type !== 'unclear') return choice;
    terminal.write(`${choice.why}\n`);
  }
}

/** The meaning of what the person typed. */
export type TypedChoice =
  | { readonly type: 'answer'; readonly answer: Pick<Answer, 'optionIds' | 'text'> }
  | { readonly type: 'passed' }
  /** `why` is shown to the person before the question is asked again. */
  | { readonly type: 'unclear'; readonly why: string };

/** Numbers alone always name options, so that a wrong number does not count as a text answer. */
export function parseChoice(typed: string, { options, allowMultiple }: Question): TypedChoice {
  const text = typed.trim();
  if (text === '') return { type: 'passed' };
  if (text.length > REQUEST_LIMITS.maxReasonChars) {
    return unclear(`An answer may have at most ${REQUEST_LIMITS.maxReasonChars} characters.`);
  }
  if (!/^\d+(?:[\s,]+\d+)*$/.test(text)) return { type: 'answer', answer: { optionIds: [], text } };
  const numbers = new Set(text.match(/\d+/g)?.map(Number));
  const optionIds = [...numbers].flatMap((number) => options[number - 1]?.id ?? []);
  if (optionIds.length < numbers.size) return unclear(`The options are 1 to ${options.length}.`);
  if (optionIds.length > 1 && !allowMultiple) return unclear('Choose only one option.');
  return { type: 'answer', answer: { optionIds } };
}

function unclear(why: string): TypedChoice {
  return { type: 'unclear', why };
}
