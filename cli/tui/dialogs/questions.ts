/** Asks the person the agent's questions, one after the other, and sends the answers together. */
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { inOneLine, inPlainSight } from '../../../shared/text/plain-sight.ts';
import type { Answer, Question } from '../../../shared/wire/documents.ts';
import type { SubagentAsk } from '../../../shared/wire/subagents.ts';
import type { DialogSession } from './dialog.ts';
import type { Line } from './folded.ts';
import type { Panel } from './panel.ts';
import { sendAnswer } from './send.ts';

export type AskedQuestions = Extract<SubagentAsk, { kind: 'clarification' }>;

/** What a person did with one question. Going back keeps the answer that was given before. */
type QuestionOutcome =
  | { readonly type: 'answered'; readonly answer: GivenAnswer }
  | { readonly type: 'skipped' | 'back' };
type GivenAnswer = Pick<Answer, 'optionIds' | 'text'>;

/** Rejects with a ClientError if the server does not take the answers. */
export async function answerQuestions(
  panel: Panel,
  { questions, conversationId, documentId, responseId }: AskedQuestions,
  { chat }: Pick<DialogSession, 'chat'>,
): Promise<void> {
  const given = new Map<number, GivenAnswer>();
  for (let at = 0; at < questions.length; ) {
    const [question] = questions.slice(at, at + 1);
    if (!question) break;
    const outcome = await ask(panel, question, at, questions.length, given.get(at));
    if (outcome.type === 'answered') given.set(at, outcome.answer);
    if (outcome.type === 'skipped') given.delete(at);
    at += outcome.type === 'back' ? -1 : 1;
  }
  const answers = questions.flatMap(({ id }, at) => {
    const answer = given.get(at);
    return answer ? [{ questionId: id, ...answer }] : [];
  });
  const answer = { answers, responseId };
  await sendAnswer(panel, () =>
    chat.client.answerClarification(conversationId, documentId, answer),
  );
}

async function ask(
  panel: Panel,
  question: Question,
  at: number,
  count: number,
  before: GivenAnswer | undefined,
): Promise<QuestionOutcome> {
  const { options, allowMultiple } = question;
  const labels = options.map(({ label }) => inOneLine(label));
  const idsOf = (indexes: readonly number[]) =>
    indexes.flatMap((index) => options[index]?.id ?? []);
  let ticked: readonly number[] = options.flatMap(({ id }, index) =>
    before?.optionIds.includes(id) ? [index] : [],
  );
  for (;;) {
    const chosen = await panel.choose({
      title: count > 1 ? `Question ${at + 1} of ${count}` : 'A question',
      body: bodyOf(question, before?.text),
      choices: [...labels, OWN, SKIP, ...(at > 0 ? [BACK] : [])].map((label) => ({ label })),
      ...(allowMultiple && { tickable: labels.length, ticked }),
      putsAway: true,
    });
    if (!chosen) continue;
    const { index } = chosen;
    ticked = allowMultiple ? chosen.ticked : [];
    if (index < labels.length)
      return answered({ optionIds: idsOf(ticked.length > 0 ? ticked : [index]) });
    if (index === labels.length + 1) return { type: 'skipped' };
    if (index === labels.length + 2) return { type: 'back' };
    const text = await ownWords(panel, question, before?.text);
    if (text) return answered({ optionIds: idsOf(ticked), text });
  }
}

function answered(answer: GivenAnswer): QuestionOutcome {
  return { type: 'answered', answer };
}

/** Undefined if the person went back. */
async function ownWords(
  panel: Panel,
  question: Question,
  before = '',
): Promise<string | undefined> {
  let note: string | undefined;
  for (let value = before; ; ) {
    const step = { title: OWN, body: bodyOf(question, undefined), note, value };
    const written = await panel.write(step);
    if (written === undefined || written.length <= REQUEST_LIMITS.maxReasonChars) return written;
    value = written;
    note = `At most ${REQUEST_LIMITS.maxReasonChars} characters.`;
  }
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

const OWN = 'Your own words';
const SKIP = 'Skip this question';
const BACK = 'Back to the question before';
