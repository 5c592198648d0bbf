/** Two tools of the bridge for each server that has resources or prompts: the agent lists and reads these with them. */
import type {
  GetPromptResult,
  Prompt,
  ReadResourceResult,
  Tool,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import { ToolFailure } from '../../../machine/failure.ts';
import { inOneLine, nameInLine } from '../../../shared/text/plain-sight.ts';
import type { Metadata } from '../../../shared/wire/documents.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import { BoundedOutput } from '../../sandbox/index.ts';
import type { CallOptions, Connection } from '../transport/connection.ts';
import type { Offering } from '../transport/lists.ts';
import { describe, describeResource } from './tool-result.ts';

/** A tool that the bridge makes of a server's data. Its definition never changes, so a rule for it stays valid. */
export interface ReadingTool {
  readonly tool: Tool;
  readonly read: (
    connection: Connection,
    args: Metadata,
    offering: Offering,
    options: CallOptions,
  ) => Promise<ToolResult>;
}

/** None for a server that has neither. */
export function readingTools(server: string, offering: Offering): readonly ReadingTool[] {
  const { resources, templates, prompts } = offering;
  return [
    ...(resources.length + templates.length > 0 ? [resourceTool(server)] : []),
    ...(prompts.length > 0 ? [promptTool(server)] : []),
  ];
}

const annotations = { readOnlyHint: true };

const ResourceArguments = z.object({ uri: z.string().optional() });

function resourceTool(server: string): ReadingTool {
  const uri = { type: 'string', description: 'The address of a resource. Without it: a list.' };
  return {
    tool: {
      name: 'resources/read',
      description: `Reads a resource of the MCP server "${server}". Without a uri it lists its resources, and the templates of more addresses.`,
      inputSchema: { type: 'object', properties: { uri } },
      annotations,
    },
    read: async (connection, args, offering, options) => {
      const { uri: wanted } = ResourceArguments.parse(args);
      if (wanted === undefined) return bounded(resourceLines(offering));
      return bounded(resourceParts(await connection.readResource(wanted, options)));
    },
  };
}

function resourceLines({ resources, templates }: Offering): string[] {
  return [
    ...resources.map(({ uri, ...about }) => entry(uri, about)),
    ...templates.map(({ uriTemplate, ...about }) => entry(`${uriTemplate} (a template)`, about)),
  ];
}

function resourceParts({ contents }: ReadResourceResult): string[] {
  return contents.map(describeResource);
}

const PromptArguments = z.object({
  name: z.string().optional(),
  arguments: z.record(z.string(), z.string()).optional(),
});

function promptTool(server: string): ReadingTool {
  const properties = {
    name: { type: 'string', description: 'The name of a prompt. Without it: a list.' },
    arguments: { type: 'object', additionalProperties: { type: 'string' } },
  };
  return {
    tool: {
      name: 'prompts/get',
      description: `Gets a prompt (a prepared text) of the MCP server "${server}". Without a name it lists its prompts.`,
      inputSchema: { type: 'object', properties },
      annotations,
    },
    read: async (connection, args, { prompts }, options) => {
      const { name, arguments: given = {} } = PromptArguments.parse(args);
      if (name === undefined) return bounded(prompts.map(promptLine));
      const prompt = prompts.find((listed) => listed.name === name);
      if (prompt) assertGiven(prompt, given);
      return bounded(promptParts(await connection.getPrompt(name, given, options)));
    },
  };
}

function promptLine({ name, arguments: args = [], ...about }: Prompt): string {
  const needs = args.map((one) => `${nameInLine(one.name)}${one.required ? '' : ' (optional)'}`);
  const line = entry(name, { ...about, name });
  return needs.length === 0 ? line : `${line} [arguments: ${needs.join(', ')}]`;
}

function assertGiven(
  { name, arguments: args = [] }: Prompt,
  given: Readonly<Record<string, string>>,
): void {
  const missing = args.filter((one) => one.required && !Object.hasOwn(given, one.name));
  if (missing.length === 0) return;
  const names = missing.map((one) => nameInLine(one.name)).join(', ');
  throw new ToolFailure('INVALID_ARGUMENTS', `The prompt ${nameInLine(name)} needs ${names}.`);
}

function promptParts({ description, messages }: GetPromptResult): string[] {
  const said = messages.map(({ role, content }) => `[${role}]\n${describe(content, NO_IMAGES)}`);
  return description === undefined ? said : [description, ...said];
}

const NO_IMAGES = new Map();

interface About {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
}

/** One line. */
function entry(address: string, { name, title = name, description = '', mimeType }: About): string {
  const kind = mimeType === undefined ? '' : ` (${mimeType})`;
  return inOneLine(`${address}${kind}: ${title}${description === '' ? '' : `. ${description}`}`);
}

function bounded(parts: readonly string[]): ToolResult {
  const output = new BoundedOutput();
  output.append(parts.join('\n') || '(nothing)');
  return { status: 'success', data: output.toString() };
}
