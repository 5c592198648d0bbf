/** Whether this browser may approve, and how it gets to. */
import { useState } from 'preact/hooks';
import { useLive } from '../live.ts';
import { enrolHere } from '../session/enrol.ts';
import { INBOX, type PageAccount } from '../store/account.ts';
import { signerFor } from '../store/approvers.ts';
import { words } from '../words/settings.ts';

export function Approving({ account }: { readonly account: PageAccount }) {
  useLive(account.live, INBOX);
  const [problem, setProblem] = useState('');
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = String(new FormData(form).get('secret'));
    const { client, session } = account;
    const device = await enrolHere(client, given, 'device', session.account);
    setProblem(device ? '' : words.enrolWrong);
    if (!device) return;
    account.approveBy({ device });
    form.reset();
  };
  return (
    <>
      <h2>{words.approving}</h2>
      {signerFor('', account.approvers) && <p class="hint">{words.canApprove}</p>}
      <form onSubmit={(event) => void submit(event)}>
        <p class="hint">
          {words.enrolLead} <code>drawbridge enrol</code>
        </p>
        <input name="secret" aria-label={words.enrolSecret} autocomplete="off" spellcheck={false} />
        <button type="submit">{words.enrol}</button>
        {problem && <p role="alert">{problem}</p>}
      </form>
    </>
  );
}
