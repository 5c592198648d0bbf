/** Which files of rules the newest answer had, and why. */
import { later } from '../later.tsx';
import { useLive } from '../live.ts';
import { Folded } from '../parts/folded.tsx';
import { THREAD, type Thread } from '../store/thread.ts';
import { words } from '../words/words.ts';

const RuleList = later(async () => (await import('./rule-list.tsx')).RuleList);

export function Rules({ thread }: { readonly thread: Thread }) {
  useLive(thread.host.live, THREAD);
  const newest = thread.view?.responses.at(-1)?.id;
  return (
    <Folded summary={words.rules}>
      <RuleList key={newest} thread={thread} />
    </Folded>
  );
}
