/**
 * The bridge's MCP client as the conformance suite drives it: a program that gets the server's address, uses what the
 * server offers, and ends. A person who accepts everything is at its side. Run by Node with TypeScript.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool } from '@modelcontextprotocol/client';
import { askForm } from '../../machine/ask-form.ts';
import { CallFailure } from '../../packages/mcp/call-failure.ts';
import { toElicitResult, toForm } from '../../packages/mcp/elicitation.ts';
import { logIn } from '../../packages/mcp/login/login.ts';
import { LoginNeeded } from '../../packages/mcp/login/login-file.ts';
import { type Connection, connectServer } from '../../packages/mcp/transport/connection.ts';
import type { Metadata } from '../../shared/wire/documents.ts';

const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
const oauth = given.client_id && { clientId: given.client_id, clientSecret: given.client_secret };
const config = {
  url: process.argv.at(-1) ?? '',
  headers: {},
  disabled: false,
  ...(oauth && { oauth }),
};
const folder = mkdtempSync(join(tmpdir(), 'drawbridge-conformance-'));
const loginFile = join(folder, 'login.json');
process.once('exit', () => rmSync(folder, { recursive: true }));
const { signal } = new AbortController();

async function connect(): Promise<Connection> {
  return await connectServer(config, {
    folder,
    workspace: folder,
    environment: process.env,
    loginFile,
    signal,
    onStderr: () => {},
    onToolsChanged: () => {},
    onClosed: () => {},
    onElicit: async (params) => {
      const form = toForm(params);
      // Enter alone, for every field.
      const content = await askForm({ ask: async () => '', say: () => {} }, form.fields);
      return toElicitResult({ decision: 'once', content: content ?? '{}' }, form);
    },
  });
}

/** Some servers want more of the person for a call than for their list. */
async function withLogin<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let logins = 0; ; logins++) {
    try {
      return await work();
    } catch (error) {
      const needed = error instanceof CallFailure ? error.cause : error;
      if (!(needed instanceof LoginNeeded) || logins === 2) throw error;
      await logIn(config, { file: loginFile, onUrl: (url) => void fetch(url) });
    }
  }
}

/** The calls that the scenario wants, else each tool once. */
function callsOf(tools: readonly Tool[]): { tool: Tool; args: Metadata }[] {
  const wanted: readonly { name: string; arguments: Metadata }[] =
    given.toolCalls ??
    tools.map(({ name }) => ({ name, arguments: ARGUMENTS[name]?.(tools) ?? {} }));
  return wanted.flatMap(({ name, arguments: args }) => {
    const tool = tools.find((each) => each.name === name);
    return tool ? [{ tool, args }] : [];
  });
}

/** What tools of scenarios need. */
const ARGUMENTS: Readonly<Record<string, (tools: readonly Tool[]) => Metadata>> = {
  add_numbers: () => ({ a: 5, b: 3 }),
  json_schema_echo: (tools) => ({
    schema: tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema,
  }),
};

await withLogin(async () => {
  const connection = await connect();
  try {
    for (const { tool, args } of callsOf(await connection.listTools()))
      await connection.call(tool, args, { signal, onProgress: () => {} });
  } finally {
    await connection.close();
  }
});
