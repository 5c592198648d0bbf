/** A folder in which calls are judged and carried out, with its tools: the workspace, or the worktree of a conversation. */
import type { CallRoom } from './admission/admit.ts';
import type { Judge } from './admission/judge.ts';
import type { Feature, RoomPart, RoomSource } from './feature.ts';
import { createFileTools } from './tools/catalogue.ts';
import { reportingNames } from './tools/new-names.ts';

export interface Room extends RoomSource, CallRoom {
  /** The names of the tools that are always there: those of some features come and go. */
  readonly toolNames: readonly string[];
  /** Ends what its features run there. */
  readonly end: () => Promise<void>;
}

/** What a bridge puts into each of its rooms. */
export interface Furnishing {
  readonly features: readonly Feature[];
  readonly judgeIn: (source: RoomSource) => Judge;
}

/** `own` is of this room alone. */
export function newRoom(
  source: RoomSource,
  { features, judgeIn }: Furnishing,
  own: RoomPart = {},
): Room {
  const parts = [...features.flatMap(({ inRoom }) => inRoom?.(source) ?? []), own];
  const { guard } = source;
  const fileTools = createFileTools(parts.flatMap(({ shape }) => shape ?? [])).map((tool) =>
    guard ? reportingNames(tool, guard) : tool,
  );
  const tools = [...fileTools, ...parts.flatMap((part) => part.tools ?? [])];
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  return {
    ...source,
    tools: {
      get: (name) => {
        const known = byName.get(name);
        if (known) return known;
        for (const { find } of features) {
          const found = find?.(name);
          if (found) return found;
        }
        return undefined;
      },
    },
    toolNames: [...byName.keys()],
    judge: judgeIn(source),
    undoing: parts.find(({ undoing }) => undoing)?.undoing,
    end: async () => {
      await Promise.all(parts.map((part) => part.end?.()));
    },
  };
}
