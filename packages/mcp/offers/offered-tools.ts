/** Turns the tools of MCP servers into offers with unique names. Pure. */
import type { Tool } from '@modelcontextprotocol/client';
import { sha256 } from '../../../machine/hash.ts';
import { OFFER_LIMITS } from '../../../shared/limits.ts';
import { nestsDeeper } from '../../../shared/text/json.ts';
import { JSON_LIMITS } from '../../../shared/text/limits.ts';
import type { Metadata } from '../../../shared/wire/documents.ts';
import { introductionOf, OfferDefinition } from '../../../shared/wire/offer.ts';
import type { OfferedTool, ToolExecutor } from '../../host/index.ts';
import { MCP_LIMITS } from '../limits.ts';

/** A tool of a server, or one of the bridge's own for that server. */
export interface ServerTool {
  readonly tool: Tool;
  /** Whether the description is in the words of the bridge. */
  readonly isOurs: boolean;
  readonly call: ToolExecutor<Metadata>;
}

export interface ServerTools {
  readonly server: string;
  readonly tools: readonly ServerTool[];
}

export interface OfferedTools {
  readonly tools: readonly OfferedTool[];
  /** A sentence for each tool that cannot be offered. */
  readonly problems: readonly string[];
}

/**
 * In the order of the servers, and of each server's own list. The edge takes the first ones, so what goes beyond a
 * server's fair share comes last: a server with five hundred tools leaves room for the others.
 */
export function offeredTools(servers: readonly ServerTools[]): OfferedTools {
  const names = new Set<string>();
  const count = fairCount(servers.map(({ tools }) => tools.length));
  const share = { count, chars: OFFER_LIMITS.maxChars / servers.length };
  const found = servers.map((server) => toolsOf(server, names, share));
  return {
    tools: [...found.flatMap(({ own }) => own), ...found.flatMap(({ beyond }) => beyond)],
    problems: found.flatMap(({ problems }) => problems),
  };
}

interface Share {
  readonly count: number;
  /** Of the definitions as JSON, in UTF-16 units. */
  readonly chars: number;
}

/** What one server offers: within its share, and beyond. Adds the names to those that are taken. */
function toolsOf({ server, tools }: ServerTools, names: Set<string>, share: Share) {
  const own: OfferedTool[] = [];
  const beyond: OfferedTool[] = [];
  const problems: string[] = [];
  let chars = 0;
  for (const served of tools) {
    const { tool, call } = served;
    const name = nameOf(server, tool.name, names);
    const { data, problem } = define(server, served, name);
    if (data === undefined) {
      problems.push(
        `${server}: ${tool.name.slice(0, MAX_SHOWN_NAME)} cannot be offered: ${problem}`,
      );
      continue;
    }
    names.add(name);
    chars += JSON.stringify(data).length;
    const isFair = own.length < share.count && chars <= share.chars;
    (isFair ? own : beyond).push({ definition: data, call });
  }
  return { own, beyond, problems: fewOf(problems, server) };
}

function fewOf(problems: readonly string[], server: string): readonly string[] {
  const shown = problems.slice(0, MCP_LIMITS.maxLoggedTools);
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, `${server}: ${more} more tools cannot be offered.`] : shown;
}

/** The most tools of one server with which the shares of all fit. */
function fairCount(counts: readonly number[]): number {
  let share: number = OFFER_LIMITS.maxOffered;
  const taken = () => counts.reduce((sum, count) => sum + Math.min(count, share), 0);
  while (share > 1 && taken() > OFFER_LIMITS.maxOffered) share -= 1;
  return share;
}

const MAX_SHOWN_NAME = 64;
const TOO_DEEP = 'the JSON Schema of its arguments nests too deeply.';

const ONLY_TASK = 'it runs only as a task, which Drawbridge cannot follow.';

function define(server: string, tool: ServerTool, name: string) {
  if (tool.tool.execution?.taskSupport === 'required') return { problem: ONLY_TASK };
  const { data, error } = OfferDefinition.safeParse(definitionOf(server, tool, name));
  if (data === undefined) return { problem: reasonOf(error) };
  return isTooDeep(data.inputSchema) ? { problem: TOO_DEEP } : { data };
}

/** The walks over an offer are recursive: a schema of a hundred thousand levels would end the bridge. */
function isTooDeep(schema: object): boolean {
  try {
    return nestsDeeper(JSON.stringify(schema), JSON_LIMITS.maxDepth);
  } catch {
    return true; // So deep that JSON.stringify gives up.
  }
}

/**
 * `mcp_<server>_<tool>` in the characters and the length that every model server takes. Where two would have one name,
 * or a name is too long, a part of the hash of the true names makes it unique.
 */
function nameOf(server: string, tool: string, taken: ReadonlySet<string>): string {
  const name = `mcp_${server}_${tool}`.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (name.length <= MAX_NAME && !taken.has(name)) return name;
  const hash = sha256(`${server}/${tool}`).slice(0, HASH_CHARS);
  return `${name.slice(0, MAX_NAME - HASH_CHARS - 1)}_${hash}`;
}

/** Of OpenAI's API, which the others follow. */
const MAX_NAME = 64;
const HASH_CHARS = 8;

function definitionOf(server: string, { tool, isOurs }: ServerTool, name: string): OfferDefinition {
  const { annotations = {}, description = '', inputSchema } = tool;
  const title = (tool.title ?? annotations.title)?.slice(0, OFFER_LIMITS.maxTitleChars);
  return {
    name,
    ...(title !== undefined && { title }),
    description: isOurs ? description : `${introductionOf(server)}${cut(description)}`,
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
