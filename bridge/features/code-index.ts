/** The index of the workspace's text: it answers codebase_search, and finds the code that a message is about. */
import { join } from 'node:path';
import {
  CodeIndex,
  codebaseSearching,
  findCode,
  INDEX_LIMITS,
} from '../../packages/code-index/index.ts';
import type { BridgeGround, Feature } from '../feature.ts';

export function codeIndex({ config, workspace, owner, signal }: BridgeGround): Feature {
  const { stateDir, embedding, codeInPrompt: modes = ['agent', 'plan', 'ask'] } = config;
  const index = new CodeIndex({
    workspace,
    path: join(stateDir, 'index.sqlite'),
    embedding: embedding && {
      service: embedding,
      // A server for vectors gets the files that the model may get unasked.
      readSendable: async () => {
        const { mayVolunteer, mayRead } = await owner.readFindable();
        return (path) => mayVolunteer(path) && mayRead(path);
      },
    },
    onReport: (report) => config.onStatus({ event: 'index', index: report }),
    signal,
  });
  return {
    inRoom: ({ kind }) => ({
      tools: [codebaseSearching(kind === 'workspace' ? index : undefined)],
    }),
    finds: { passages: (look) => findCode({ index, modes }, look) },
    start: () => index.start(INDEX_LIMITS.startDelayMs),
    end: () => index.end(),
  };
}
