/** Which notifications this browser shows while the page is closed. */
import { useState } from 'preact/hooks';
import type { PushKind } from '../../client/index.ts';
import { choosePush, chosenKinds, pushSupport } from '../session/push.ts';
import type { Account } from '../store/account.ts';
import { words } from '../words/words.ts';

const KINDS: readonly PushKind[] = ['waiting', 'ended', 'failed'];

export function Push({ account: { client } }: { readonly account: Account }) {
  const [kinds, setKinds] = useState(chosenKinds());
  const [problem, setProblem] = useState('');
  const support = pushSupport();
  const choose = async (kind: PushKind, isWanted: boolean) => {
    try {
      await choosePush(client, { ...kinds, [kind]: isWanted });
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setKinds(chosenKinds());
  };
  return (
    <>
      <h2>{words.notifications}</h2>
      {support === 'ready' ? (
        <fieldset class="choices">
          <legend>{words.notifyWhen}</legend>
          {KINDS.map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={kinds[kind]}
                onChange={(event) => void choose(kind, event.currentTarget.checked)}
              />
              {words.pushKinds[kind]}
            </label>
          ))}
        </fieldset>
      ) : (
        <p class="hint">{words.noPush[support]}</p>
      )}
      {problem && (
        <p role="alert">
          {words.pushFailed} {problem}
        </p>
      )}
    </>
  );
}
