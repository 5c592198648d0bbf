/** Completes mentions: finds the files and folders that a person may mean. */
import type { BridgeGround, Feature } from '../feature.ts';
import { Completion } from './completion.ts';

/** `readOpen` gives the files that are open in an editor. */
export function completion(
  { workspace, owner, signal }: Pick<BridgeGround, 'workspace' | 'owner' | 'signal'>,
  readOpen: () => Promise<readonly string[]>,
): Feature {
  const readPolicy = async () => {
    const { mayName, mayRead } = await owner.readFindable();
    return (path: string) => mayName(path) && mayRead(path);
  };
  const found = new Completion({ workspace, readPolicy, readOpen, signal });
  return {
    answers: {
      files: async ({ type, askId, ...query }) => ({ type, askId, items: await found.find(query) }),
    },
  };
}
