/** Reports names with a dot that file tools make at the top of the workspace, as those of commands are reported. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BridgeTool, Proposed, ToolContext } from '../../packages/host/index.ts';
import { attentionSentence } from '../../shared/shown/attention.ts';
import type { AttentionItem } from '../../shared/wire/attention.ts';
import type { ToolResult } from '../../shared/wire/tunnel.ts';

/** The part of the guard that this needs. */
interface NameWatch {
  /** Reports those of these names that are news. They were made by a call. */
  readonly noticed: (names: readonly string[]) => Promise<readonly AttentionItem[]>;
}

/** The same tool, whose results name what it has made. Only for tools that change files themselves. */
export function reportingNames(tool: BridgeTool, watch: NameWatch): BridgeTool {
  if (tool.definition.effect !== 'write') return tool;
  return {
    ...tool,
    read: (args, conversationId) => {
      const call = tool.read(args, conversationId);
      return {
        ...call,
        propose: async (context) => reportingOf(await call.propose(context), watch),
      };
    },
  };
}

function reportingOf(proposed: Proposed, watch: NameWatch): Proposed {
  const { edited } = proposed;
  return {
    ...proposed,
    ...(edited && {
      edited: {
        ...edited,
        amend: async (content) => reportingOf(await edited.amend(content), watch),
      },
    }),
    apply: async (context) => {
      const absent = topNamesOf(context).filter(({ path }) => !existsSync(path));
      const result = await proposed.apply(context);
      const made = absent.filter(({ path }) => existsSync(path)).map(({ name }) => name);
      return made.length === 0 ? result : withItems(result, await watch.noticed(made));
    },
  };
}

/** The names with a dot of the workspace's own folder in which the call's places lie. */
function topNamesOf({ places, workspace }: ToolContext): { name: string; path: string }[] {
  const tops = places.map(({ path }) => workspace.nameOf(path).split('/')[0] ?? '');
  const names = new Set(tops.filter((name) => /^\.[^./]/.test(name)));
  return [...names].map((name) => ({ name, path: join(workspace.root, name) }));
}

function withItems(result: ToolResult, items: readonly AttentionItem[]): ToolResult {
  if (items.length === 0 || result.status !== 'success') return result;
  return {
    ...result,
    data: [result.data, ...items.map((item) => attentionSentence(item))].join('\n'),
    metadata: { ...result.metadata, newlyProtected: [...items] },
  };
}
