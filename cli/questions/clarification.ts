/** The agent's questions: the options of each, a person's own words, and what a line for them means. */
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { inOneLine, inPlainSight } from '../../shared/text/plain-sight.ts';
import type { Answer, Question } from '../../shared/wire/documents.ts';
import type { Chosen, Line, ListChoice, Prompter, ReadLine } from './steps.ts';

type GivenAnswer = Pick<Answer, 'optionIds' | 'text'>;

/** Asks one question after the other. Going back keeps the answer that was given before. */
export async function askQuestions(
  prompter: Prompter,
  questions: readonly Question[],
): Promise<Answer[]> {
  const given = new Map<number, GivenAnswer>();
  for (let at = 0; at < questions.length; ) {
    const [question] = questions.slice(at, at + 1);
    if (!question) break;
    const outcome = await askQuestion(prompter, question, at, questions.length, given.get(at));
    if (outcome.type === 'answer') given.set(at, outcome.answer);
    if (outcome.type === 'passed') given.delete(at);
    at += outcome.type === 'back' ? -1 : 1;
  }
  return questions.flatMap(({ id }, at) => {
    const answer = given.get(at);
    return answer ? [{ questionId: id, ...answer }] : [];
  });
}

/** The meaning of what the person typed. */
export type TypedChoice =
  | { readonly type: 'answer'; readonly answer: GivenAnswer }
  | { readonly type: 'passed' }
  /** `why` is shown to the person before the question is asked again. */
  | { readonly type: 'unclear'; readonly why: string };

type QuestionOutcome =
  | Exclude<TypedChoice, { type: 'unclear' }>
  /** To the question before. */
  | { readonly type: 'back' };

/** What a choice leads to. `own`: the person writes first. */
type QuestionWay = QuestionOutcome | { readonly type: 'own' };

async function askQuestion(
  prompter: Prompter,
  question: Question,
  at: number,
  count: number,
  before: GivenAnswer | undefined,
): Promise<QuestionOutcome> {
  const { options, allowMultiple } = question;
  const place = count > 1 ? ` ${at + 1} of ${count}` : '';
  const how = allowMultiple ? 'numbers' : 'a number';
  const choices: ListChoice<QuestionWay>[] = options.map(({ id, label }) => {
    return { label: inOneLine(label), answer: answered({ optionIds: [id] }) };
  });
  choices.push({ label: OWN, answer: { type: 'own' } });
  choices.push({ label: 'Skip this question', answer: { type: 'passed' } });
  if (at > 0) choices.push({ label: 'Back to the question before', answer: { type: 'back' } });
  let ticked: readonly number[] = options.flatMap(({ id }, index) =>
    before?.optionIds.includes(id) ? [index] : [],
  );
  for (;;) {
    const chosen: Chosen<QuestionWay> | undefined = await prompter.choose({
      title: count > 1 ? `Question${place}` : 'A question',
      body: bodyOf(question, before?.text),
      choices,
      ...(allowMultiple && { tickable: options.length, ticked }),
      putsAway: true,
      line: {
        words: `Answer${place} (${how}, or your own words; Enter alone skips it): `,
        read(typed): ReadLine<QuestionWay> {
          const choice = parseChoice(typed, question);
          return choice.type === 'unclear' ? { problem: choice.why } : { answer: choice };
        },
      },
    });
    if (!chosen) continue;
    const { answer: outcome } = chosen;
    ticked = allowMultiple ? chosen.ticked : [];
    const optionIds = ticked.flatMap((index) => options[index]?.id ?? []);
    if (outcome.type === 'answer') return optionIds.length > 0 ? answered({ optionIds }) : outcome;
    if (outcome.type !== 'own') return outcome;
    const text = await prompter.write({
      title: OWN,
      body: bodyOf(question, undefined),
      value: before?.text ?? '',
      check: ({ length }) =>
        length > REQUEST_LIMITS.maxReasonChars
          ? `At most ${REQUEST_LIMITS.maxReasonChars} characters.`
          : undefined,
    });
    if (text) return answered({ optionIds, text });
  }
}

const OWN = 'Your own words';

function answered(answer: GivenAnswer): Extract<TypedChoice, { type: 'answer' }> {
  return { type: 'answer', answer };
}

function bodyOf({ text, allowMultiple }: Question, own: string | undefined): Line[] {
  return [
    ...inPlainSight(text)
      .split('\n')
      .map((line) => ({ text: line, style: 'bold' as const })),
    ...(allowMultiple
      ? [{ text: 'Space ticks several; Enter goes on.', style: 'dim' as const }]
      : []),
    ...(own === undefined ? [] : [{ text: `Your words before: ${inOneLine(own)}` }]),
  ];
}

/** Numbers alone always name options, so that a wrong number does not count as a text answer. */
export function parseChoice(typed: string, { options, allowMultiple }: Question): TypedChoice {
  const text = typed.trim();
  if (text === '') return { type: 'passed' };
  if (text.length > REQUEST_LIMITS.maxReasonChars) {
    return unclear(`An answer may have at most ${REQUEST_LIMITS.maxReasonChars} characters.`);
  }
  if (!/^\d+(?:[\s,]+\d+)*$/.test(text)) return answered({ optionIds: [], text });
  const numbers = new Set(text.match(/\d+/g)?.map(Number));
  const optionIds = [...numbers].flatMap((number) => options[number - 1]?.id ?? []);
  if (optionIds.length < numbers.size) return unclear(`The options are 1 to ${options.length}.`);
  if (optionIds.length > 1 && !allowMultiple) return unclear('Choose only one option.');
  return answered({ optionIds });
}

function unclear(why: string): TypedChoice {
  return { type: 'unclear', why };
}
