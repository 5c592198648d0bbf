/** The MCP server on stdin and stdout. Beside the companion, only this file uses the MCP SDK as a server. */
import { once } from 'node:events';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import * as z from 'zod';
import { ClientError } from '../../client/index.ts';
import { OWN_VERSION } from '../../local/own-root.ts';
import { LocalError } from '../../machine/local-error.ts';
import { openPlace, type PlaceSurroundings } from '../server/place.ts';
import { describeFailure } from '../terminal/failure-text.ts';
import { openTerminal } from '../terminal/terminal.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { type AgentTool, TOOLS } from './tools.ts';

/** Serves until the client closes stdin. Agents go on at the server. */
export async function serveMcp(place: Omit<PlaceSurroundings, 'terminal'>): Promise<void> {
  const terminal = openTerminal(process, process.env, { machine: true });
  const server = newServer({ ...place, terminal });
  await server.connect(new StdioServerTransport());
  await once(process.stdin, 'end');
  await server.close();
}

function newServer(surroundings: PlaceSurroundings): Server {
  const about = { name: 'drawbridge', title: 'Drawbridge', version: OWN_VERSION };
  const server = new Server(about, {
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    // The SDK's default compiles schemas to code.
    jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
  });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(describeTool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) throw new McpError(ErrorCode.InvalidParams, unknownText(params.name));
    const { progressToken } = params._meta ?? {};
    let progress = 0;
    const onProgress = async (message: string) => {
      if (progressToken === undefined) return;
      const seen = { progressToken, progress: ++progress, message };
      await extra.sendNotification({ method: 'notifications/progress', params: seen });
    };
    return await answer(async () => {
      // Each time: a server that was stopped meanwhile is started again.
      const { chat } = await openPlace(surroundings, process.cwd());
      return await tool.call(params.arguments ?? {}, { ...chat, signal: extra.signal, onProgress });
    });
  });
  return server;
}

const INSTRUCTIONS =
  'Drawbridge runs coding agents on this machine, each in a git worktree of its own. start_agent starts one and ' +
  'returns at once; follow_agent waits for it. What it may not do alone waits for a person: list_waiting shows it, ' +
  'and no tool here answers it.';

function unknownText(name: string): string {
  const names = TOOLS.map((tool) => tool.name).join(', ');
  return (
    `There is no tool ${JSON.stringify(name)}, only ${names}. No tool approves a call or answers a question: a person ` +
    'does, with `drawbridge approvals`, in the page or in an editor.'
  );
}

function describeTool({ name, title, description, input, isReading }: AgentTool): Tool {
  // An object's schema, whose properties are schemas of their own.
  const inputSchema = z.toJSONSchema(input, { io: 'input' }) as Tool['inputSchema'];
  return {
    name,
    title,
    description,
    inputSchema,
    annotations: { readOnlyHint: isReading, openWorldHint: false },
  };
}

/** What the model can do something about is a result that says so. */
async function answer(work: () => Promise<string>): Promise<CallToolResult> {
  try {
    return { content: [{ type: 'text', text: await work() }] };
  } catch (error) {
    const text = failureText(error);
    if (text === undefined) throw error;
    return { isError: true, content: [{ type: 'text', text }] };
  }
}

function failureText(error: unknown): string | undefined {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  if (error instanceof UsageError) return error.message;
  const isExpected = error instanceof ClientError || error instanceof LocalError;
  return isExpected ? describeFailure(error) : undefined;
}
