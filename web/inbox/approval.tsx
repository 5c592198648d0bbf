/** A call that waits for a person: all that it will do, and the answers that this browser may give. */
import { useId, useRef, useState } from 'preact/hooks';
import { ClientError } from '../../client/index.ts';
import { withCommandLast } from '../../shared/shown/command-last.ts';
import { narrowPattern, siteOf } from '../../shared/shown/proposal.ts';
import { inOneLine, inPlainSight } from '../../shared/text/plain-sight.ts';
import type { OpenApproval, Scope } from '../../shared/wire/approvals.ts';
import { folderName } from '../conversations/folder-name.ts';
import { arrive } from '../later.tsx';
import { useLive } from '../live.ts';
import { INBOX, type PageAccount } from '../store/account.ts';
import { ENROL_COMMAND, signerFor } from '../store/approvers.ts';
import { words } from '../words/words.ts';
import { Fields, valuesIn } from './fields.tsx';
import { useStandingStill } from './standing-still.ts';

interface ApprovalProps {
  readonly item: OpenApproval;
  readonly account: PageAccount;
}

export function Approval({ item, account }: ApprovalProps) {
  // Another question in the same place is another one: nothing typed or clicked before counts for it.
  return <Asked key={item.nonce} item={item} account={account} />;
}

function Asked({ item, account }: ApprovalProps) {
  useLive(account.live, INBOX);
  // What is signed is exactly what was shown, whatever the stream brings meanwhile.
  const [question] = useState(item);
  /** Also once it was answered: the stream takes it away. */
  const [isSending, setSending] = useState(false);
  /** Why the last answer did not count, while the question is open. */
  const [refusal, setRefusal] = useState('');
  const form = useRef<HTMLFormElement>(null);
  const isSeen = useStandingStill(form);
  const { proposal, lasting, reason, bridgeId } = question;
  const pattern = narrowPattern(proposal, lasting);
  const bridge = account.bridgeOf(bridgeId);
  const signer = signerFor(bridgeId, account.approvers);
  // The machine asks again after a signature that does not count there.
  const [wasRefused] = useState(signer?.isSure === false && account.allowed.has(item.callId));
  const answer = async (work: () => Promise<void>) => {
    setSending(true);
    setRefusal('');
    account.answered.add(question.nonce);
    try {
      await work();
    } catch (error) {
      account.answered.delete(question.nonce);
      setSending(false);
      // After any other error the question may be gone: the page shows it above.
      if (!(error instanceof ClientError && error.code === 'APPROVAL_REFUSED')) throw error;
      account.allowed.delete(question.callId);
      setRefusal(error.message);
    } finally {
      await account.readInbox();
    }
  };
  const allow = async (scope?: Scope) => {
    const given = new FormData(form.current ?? undefined);
    const typed = String(given.get('pattern') ?? '').trim();
    if (scope && pattern !== undefined && typed !== pattern) {
      setSending(true); // A second click must not come meanwhile.
      const check = await arrive(loadPatternCheck()).finally(() => setSending(false));
      const problem = check.patternProblem(proposal, pattern, typed);
      if (problem?.type === 'count') return setRefusal(words.patternCount(problem.count));
      if (problem) return setRefusal(words.patternMismatch(problem.text));
    }
    await answer(async () => {
      if (!signer) return;
      account.allowed.add(question.callId);
      await account.client.allowCall(question, signer.device, {
        ...(scope && { scope, pattern: typed }),
        ...(proposal.kind === 'elicitation' && {
          content: JSON.stringify(valuesIn(proposal.fields, given)),
        }),
      });
    });
  };
  const reject = () =>
    answer(async () => {
      const message = String(new FormData(form.current ?? undefined).get('why') ?? '').trim();
      await account.client.rejectCall(question, message ? { message } : {});
    });
  const isBlocked = !isSeen || isSending;
  const site = siteOf(proposal);
  return (
    <form ref={form} class="ask" onSubmit={(event) => event.preventDefault()}>
      <p class="why">
        {words.asks[proposal.kind]}{' '}
        {proposal.kind === 'call' && <code>{inOneLine(proposal.tool)}</code>}
      </p>
      <p class="hint">
        {bridge && `${folderName(bridge.workspacePath)} · `}
        {inPlainSight(reason)}
      </p>
      <Proposed lines={withCommandLast(proposal)} />
      {refusal && <p role="alert">{inPlainSight(refusal)}</p>}
      {proposal.kind === 'elicitation' && signer && <Fields fields={proposal.fields} />}
      {signer ? (
        <p class="actions">
          <Allow
            isMain
            text={signer.approver === 'passkey' ? words.allowsByPasskey : words.allows}
            reach={site === undefined ? words.reach.once : words.reach.site(site)}
            isBlocked={isBlocked}
            work={() => void allow()}
          />
          <button type="button" disabled={isBlocked} onClick={() => void reject()}>
            {words.reject}
          </button>
          {wasRefused && (
            <span class="hint">
              {words.perhapsApproves} <code>{ENROL_COMMAND}</code>
            </span>
          )}
        </p>
      ) : (
        <p class="actions">
          <button type="button" disabled={isBlocked} onClick={() => void reject()}>
            {words.reject}
          </button>
          <span class="hint">
            {words.cannotApprove} <code>{ENROL_COMMAND}</code>
          </span>
        </p>
      )}
      <details>
        <summary>{words.moreAnswers}</summary>
        <label>
          {words.rejectWhy}
          <textarea name="why" />
        </label>
        {signer?.approver === 'device' && lasting && pattern !== undefined && (
          <>
            <label>
              {words.pattern}
              <textarea
                name="pattern"
                defaultValue={pattern}
                spellcheck={false}
                onInput={() => {
                  setRefusal('');
                  loadPatternCheck().catch(() => undefined); // The click tries again, and reports it.
                }}
              />
            </label>
            <Allow
              text={words.allowConversation}
              reach={words.reach.conversation}
              isBlocked={isBlocked}
              work={() => void allow('conversation')}
            />
            {lasting.always && (
              <Allow
                text={words.allowAlways}
                reach={words.reach.always}
                isBlocked={isBlocked}
                work={() => void allow('always')}
              />
            )}
          </>
        )}
      </details>
    </form>
  );
}

/** Few people change a pattern. */
function loadPatternCheck() {
  return import('../../shared/shown/pattern-problem.ts');
}

interface AllowProps {
  readonly text: string;
  /** How far the yes reaches. */
  readonly reach: string;
  readonly isMain?: boolean;
  readonly isBlocked: boolean;
  work(): void;
}

function Allow({ text, reach, isMain = false, isBlocked, work }: AllowProps) {
  const id = useId();
  return (
    <span class="allow">
      <button
        type="button"
        class={isMain ? 'main' : ''}
        disabled={isBlocked}
        aria-describedby={id}
        onClick={work}
      >
        {text}
      </button>
      <span class="hint" id={id}>
        {reach}
      </span>
    </span>
  );
}

/** The lines as every device shows them, with the colours of a change. */
function Proposed({ lines }: { readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <pre class="proposed">
      {lines.map((line, index) => (
        <span key={index} class={/^ {4}\+/.test(line) ? 'good' : /^ {4}-/.test(line) ? 'bad' : ''}>
          {line}
        </span>
      ))}
    </pre>
  );
}
