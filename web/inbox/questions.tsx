/** Questions of the agent, as a form. */
import { useState } from 'preact/hooks';
import { inPlainSight } from '../../shared/text/plain-sight.ts';
import type { OpenQuestions } from '../../shared/wire/approvals.ts';
import type { ThreadHost } from '../store/thread-host.ts';
import { words } from '../words/thread.ts';

interface QuestionsProps {
  readonly item: OpenQuestions;
  readonly host: Pick<ThreadHost, 'client' | 'run'>;
}

export function Questions({ item, host }: QuestionsProps) {
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const { questions, conversationId, documentId, responseId } = item;
  const send = async (answers: readonly FormAnswer[]) => {
    setSending(true);
    try {
      const body = { responseId, answers: [...answers] };
      await host.client.answerClarification(conversationId, documentId, body);
    } catch (error) {
      setSending(false);
      throw error; // The questions may be gone by then.
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const answers = questions.flatMap(({ id }) => answerIn(given, id));
    if (answers.length === 0) setProblem(words.chooseFirst);
    else host.run(() => send(answers));
  };
  return (
    <form class="ask" onSubmit={submit}>
      {questions.map(({ id, text, options, allowMultiple }) => (
        <fieldset key={id}>
          <legend>{inPlainSight(text)}</legend>
          {options.map((option) => (
            <label key={option.id}>
              <input type={allowMultiple ? 'checkbox' : 'radio'} name={id} value={option.id} />
              {inPlainSight(option.label)}
            </label>
          ))}
          <input name={`${id} text`} placeholder={words.ownWords} aria-label={words.ownWords} />
        </fieldset>
      ))}
      <p class="actions">
        <button type="submit" class="main" disabled={isSending}>
          {words.answer}
        </button>
        <button type="button" disabled={isSending} onClick={() => host.run(() => send([]))}>
          {words.skip}
        </button>
      </p>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}

interface FormAnswer {
  readonly questionId: string;
  readonly optionIds: string[];
  readonly text?: string;
}

/** A question that the person left out has no answer. */
function answerIn(given: FormData, id: string): FormAnswer[] {
  const optionIds = given.getAll(id).map(String);
  const text = String(given.get(`${id} text`) ?? '').trim();
  if (optionIds.length === 0 && text === '') return [];
  return [{ questionId: id, optionIds, ...(text && { text }) }];
}
