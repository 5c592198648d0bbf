/**
 * The one place that uses the MCP SDK as a server. It is loaded when a companion starts.
 *
 * The SDK's transport speaks the protocol. It knows one session, and refuses a second stream where ours replaces the
 * first. So front-door.ts has the HTTP server, and session.ts the sessions.
 */
import { fileURLToPath } from 'node:url';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { type CallToolResult, isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/cfworker';
import * as z from 'zod';
import { COMPANION_LIMITS } from './limits.ts';

/** What a client's calls of the two tools do. */
export interface DiffTools {
  /** @throws {Error} if the diff cannot be shown. The client gets its message. */
  open(filePath: string, newContent: string): void;
  /** The content as it stands in the view; undefined if no such diff is open. */
  close(filePath: string): Promise<string | undefined>;
}

/** An error or a warning of a linter or a language server. */
export interface Diagnostic {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** The linter and its rule. */
  readonly source?: string;
}

/** What the editor knows of a file, by its path as the client has written it. */
export type Diagnose = (filePath: string) => readonly Diagnostic[] | Promise<readonly Diagnostic[]>;

/** One client's protocol. */
export interface Protocol {
  /** As the client gives itself, once it has sent `initialize`. */
  readonly client: { readonly name: string; readonly version: string } | undefined;
  /** `body` is the parsed JSON. The answer to a GET is an event stream, open when the promise resolves. */
  handle(request: Request, body: unknown): Promise<Response>;
  /** Writes to the event stream. Without one, the notification is lost. */
  notify(method: string, params?: Record<string, unknown>): Promise<void>;
  /** Ends the event stream, so that a new one can take its place. */
  endStream(): void;
  close(): Promise<void>;
}

export interface ProtocolOptions {
  readonly sessionId: string;
  /** The editor's name for people. */
  readonly title: string;
  readonly tools: DiffTools;
  /** Without it there is no tool for it. */
  readonly diagnose?: Diagnose | undefined;
}

/** Whether a body begins a session. */
export { isInitializeRequest };

/** The MCP server of one session. Its transport takes one event stream at a time, and answers calls without one. */
export async function newProtocol(options: ProtocolOptions): Promise<Protocol> {
  const { sessionId, title, tools, diagnose } = options;
  const server = newServer(title, tools);
  if (diagnose) addDiagnose(server, diagnose);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => sessionId,
    // Each answer is at hand at once: it needs no stream.
    enableJsonResponse: true,
    // The session sends signs of life of its own.
    keepAliveMs: 0,
  });
  await server.connect(transport);
  return {
    get client() {
      return server.server.getClientVersion();
    },
    handle: (request, parsedBody) => transport.handleRequest(request, { parsedBody }),
    notify: (method, params) => server.server.notification({ method, ...(params && { params }) }),
    endStream: () => transport.closeStandaloneSSEStream(),
    close: () => server.close(),
  };
}

function newServer(title: string, tools: DiffTools): McpServer {
  const server = new McpServer(
    { name: 'drawbridge-companion', title, version: '0.1.0' },
    // The SDK's default compiles schemas to code.
    { jsonSchemaValidator: new CfWorkerJsonSchemaValidator() },
  );
  server.registerTool(
    'openDiff',
    {
      description:
        'Shows a proposed content of a file to a person. The answer follows as ide/diffAccepted or ide/diffRejected.',
      inputSchema: {
        filePath: z.string().min(1).describe('The absolute path of the file.'),
        newContent: z.string().describe('The proposed content of the whole file.'),
      },
    },
    ({ filePath, newContent }): CallToolResult => {
      tools.open(filePath, newContent);
      return { content: [] };
    },
  );
  server.registerTool(
    'closeDiff',
    {
      description: 'Closes the diff of a file, and returns the content as the person left it.',
      inputSchema: {
        filePath: z.string().describe('The path that openDiff was called with.'),
        suppressNotification: z.boolean().optional().describe('Has no effect: none is sent.'),
      },
    },
    async ({ filePath }): Promise<CallToolResult> => {
      const content = await tools.close(filePath);
      return { content: [{ type: 'text', text: JSON.stringify({ content }) }] };
    },
  );
  return server;
}

/** Answers as VS Code does: lines and columns count from 0 there. */
function addDiagnose(server: McpServer, diagnose: Diagnose): void {
  server.registerTool(
    'getDiagnostics',
    {
      description: 'Returns the errors and warnings that the editor knows of a file.',
      inputSchema: { uri: z.string().describe('The file: URI of the file.') },
    },
    async ({ uri }): Promise<CallToolResult> => {
      const found = await diagnose(fileURLToPath(uri));
      const diagnostics = found.slice(0, COMPANION_LIMITS.maxDiagnostics).map(toRanged);
      return { content: [{ type: 'text', text: JSON.stringify([{ uri, diagnostics }]) }] };
    },
  );
}

function toRanged({ line, column, severity, message, source }: Diagnostic) {
  const place = { line: line - 1, character: column - 1 };
  const range = { start: place, end: place };
  return { range, severity: severity === 'error' ? 'Error' : 'Warning', message, source };
}
