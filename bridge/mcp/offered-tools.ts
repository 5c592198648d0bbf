/** Turns the tools of MCP servers into offers with unique names. Pure. */
import { createHash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Metadata } from '../../shared/documents.ts';
import { OFFER_LIMITS } from '../../shared/limits.ts';
import { OfferDefinition } from '../../shared/offer.ts';
import type { ToolExecutor } from '../tools/executor.ts';
import type { OfferedTool } from '../tools/offers.ts';
import { MCP_LIMITS } from './limits.ts';

export interface ServerTools {
  readonly server: string;
  readonly tools: readonly Tool[];
  readonly call: (tool: string) => ToolExecutor<Metadata>;
}

export interface OfferedTools {
  readonly tools: readonly OfferedTool[];
  /** A sentence for each tool that cannot be offered. */
  readonly problems: readonly string[];
}

/** In the order of the servers, and of each server's own list. */
export function offeredTools(servers: readonly ServerTools[]): OfferedTools {
  const tools: OfferedTool[] = [];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const { server, tools: listed, call } of servers) {
    for (const tool of listed) {
      const name = nameOf(server, tool.name, names);
      const definition = OfferDefinition.safeParse(definitionOf(server, tool, name));
      if (!definition.success) {
        problems.push(
          `${server}: ${tool.name.slice(0, MAX_SHOWN_NAME)} cannot be offered: ${reasonOf(definition.error)}`,
        );
        continue;
      }
      names.add(name);
      tools.push({ definition: definition.data, call: call(tool.name) });
    }
  }
  return { tools, problems };
}

const MAX_SHOWN_NAME = 64;

/**
 * `mcp_<server>_<tool>` in the characters and the length that every model server takes. Where two would have one name,
 * or a name is too long, a part of the hash of the true names tells it apart.
 */
function nameOf(server: string, tool: string, taken: ReadonlySet<string>): string {
  const name = `mcp_${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (name.length <= MAX_NAME && !taken.has(name)) return name;
  const hash = createHash('sha256').update(`${server}/${tool}`).digest('hex').slice(0, HASH_CHARS);
  return `${name.slice(0, MAX_NAME - HASH_CHARS - 1)}_${hash}`;
}

/** Of OpenAI's API, which the others follow. */
const MAX_NAME = 64;
const HASH_CHARS = 8;

function definitionOf(server: string, tool: Tool, name: string): OfferDefinition {
  const { annotations = {}, description = '', inputSchema } = tool;
  const title = (tool.title ?? annotations.title)?.slice(0, OFFER_LIMITS.maxTitleChars);
  return {
    name,
    ...(title !== undefined && { title }),
    description: `A tool of the MCP server "${server}", which describes it so: ${cut(description)}`,
    inputSchema,
    effect: annotations.readOnlyHint === true ? 'read' : 'execute',
    idempotent: annotations.idempotentHint === true || annotations.readOnlyHint === true,
    document: { type: 'tool_call' },
    origin: { server, tool: tool.name },
  };
}

function cut(description: string): string {
  const max = MCP_LIMITS.maxDescriptionChars;
  return description.length <= max ? description : `${description.slice(0, max).toWellFormed()} …`;
}

function reasonOf(error: { issues: readonly { path: PropertyKey[]; message: string }[] }): string {
  const [issue] = error.issues;
  return `${issue?.path.join('.')}: ${issue?.message}.`;
}
