/** Questions of the agent, as a form. */
import { useState } from 'preact/hooks';
import { inPlainSight } from '../../shared/text/plain-sight.ts';
import type { OpenQuestions } from '../../shared/wire/approvals.ts';
import type { Account } from '../store/account.ts';
import { words } from '../words/words.ts';

interface Props {
  readonly item: OpenQuestions;
  readonly account: Account;
}

export function Questions({ item, account }: Props) {
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const { questions, conversationId, documentId, responseId } = item;
  const send = async (answers: readonly Given[]) => {
    setSending(true);
    try {
      const body = { responseId, answers: [...answers] };
      await account.client.answerClarification(conversationId, documentId, body);
      await account.readInbox();
    } catch (error) {
      setSending(false);
      throw error; // It may be gone by then: the page shows it above.
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const answers = questions.flatMap(({ id }) => answerIn(given, id));
    if (answers.length === 0) setProblem(words.chooseFirst);
    else void send(answers);
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
        <button type="button" disabled={isSending} onClick={() => void send([])}>
          {words.skip}
        </button>
      </p>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}

interface Given {
  readonly questionId: string;
  readonly optionIds: string[];
  readonly text?: string;
}

/** A question that the person left out has no answer. */
function answerIn(given: FormData, id: string): Given[] {
  const optionIds = given.getAll(id).map(String);
  const text = String(given.get(`${id} text`) ?? '').trim();
  if (optionIds.length === 0 && text === '') return [];
  return [{ questionId: id, optionIds, ...(text && { text }) }];
}
