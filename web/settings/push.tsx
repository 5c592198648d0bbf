/** Which notifications this session gets while the page is closed, and where. */
import { useCallback, useState } from 'preact/hooks';
import type { NtfyTopic, PushKind, PushKinds, PushState } from '../../client/index.ts';
import { Folded } from '../parts/folded.tsx';
import { useReading } from '../parts/use-reading.ts';
import { choosePush, chooseTopic, pushSupport } from '../session/push.ts';
import { chosenKinds } from '../session/push-choice.ts';
import type { PageAccount } from '../store/account.ts';
import { words } from '../words/settings.ts';
import { Ntfy } from './ntfy.tsx';

const KINDS: readonly PushKind[] = ['waiting', 'ended', 'failed'];
const ALL: PushKinds = { waiting: true, ended: true, failed: true };

export function Push({ account: { client } }: { readonly account: PageAccount }) {
  const [subscribed, setSubscribed] = useState<PushState['subscribed']>();
  const [problem, setProblem] = useState('');
  const read = useCallback(
    async () => setSubscribed((await client.getPush()).subscribed),
    [client],
  );
  useReading(read);
  if (subscribed === undefined) return null;
  const topic = subscribed?.service === 'ntfy' ? subscribed : undefined;
  const kinds = topic?.kinds ?? chosenKinds();
  const support = pushSupport();
  const tried = async (work: () => Promise<void>) => {
    setProblem('');
    try {
      await work();
      await read();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const choose = (kind: PushKind, isWanted: boolean) => {
    const wanted = { ...kinds, [kind]: isWanted };
    if (!topic) return choosePush(client, wanted);
    return chooseTopic(client, { topic: topic.endpoint }, wanted);
  };
  const setTopic = (wanted: NtfyTopic) =>
    chooseTopic(client, wanted, KINDS.some((kind) => kinds[kind]) ? kinds : ALL);
  return (
    <>
      <h2>{words.notifications}</h2>
      {topic || support === 'ready' ? (
        <fieldset class="choices">
          <legend>{topic ? words.notifyByNtfyWhen : words.notifyWhen}</legend>
          {KINDS.map((kind) => (
            <label key={kind}>
              <input
                type="checkbox"
                checked={kinds[kind]}
                onChange={({ currentTarget: { checked } }) =>
                  void tried(() => choose(kind, checked))
                }
              />
              {words.pushKinds[kind]}
            </label>
          ))}
        </fieldset>
      ) : (
        <p class="hint">{words.noPush[support]}</p>
      )}
      <Folded summary={words.byNtfy}>
        <Ntfy
          key={topic?.endpoint}
          topic={topic?.endpoint}
          onSet={(wanted) => void tried(() => setTopic(wanted))}
          onRemove={() => void tried(() => client.deletePush())}
        />
      </Folded>
      {problem && (
        <p role="alert">
          {words.pushFailed} {problem}
        </p>
      )}
    </>
  );
}
