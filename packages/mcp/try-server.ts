/** One start of an MCP server, to show its owner whether it works. */
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { MCP_LIMITS } from './limits.ts';
import type { ServerConfig } from './server-list.ts';
import { type ConnectOptions, connectServer } from './transport/connection.ts';

export interface TriedServer {
  readonly isReady: boolean;
  /** One line. */
  readonly summary: string;
  /** Its tools, or the last lines of its stderr. */
  readonly lines: readonly string[];
}

/** Starts the server, lists its tools, and ends it. Never rejects. */
export async function tryServer(
  config: ServerConfig,
  place: Pick<ConnectOptions, 'folder' | 'workspace' | 'loginFile'>,
): Promise<TriedServer> {
  const { signal } = new AbortController();
  let complaints = '';
  try {
    const connection = await connectServer(config, {
      ...place,
      environment: process.env,
      signal,
      onToolsChanged: () => {},
      onClosed: () => {},
      onStderr: (text) => {
        complaints = (complaints + text).slice(-COMPLAINT_CHARS);
      },
    });
    try {
      const tools = await connection.listTools();
      return {
        isReady: true,
        summary: `${connection.about}, ${tools.length} tools`,
        lines: tools.map(({ name, description = '' }) => `${name}: ${inOneLine(description)}`),
      };
    } finally {
      await connection.close();
    }
  } catch (error) {
    const summary = `does not work: ${error instanceof Error ? error.message : String(error)}`;
    // A program is started twice where its version stays unclear.
    const lines = [...new Set(complaints.split('\n'))].filter((line) => line !== '');
    return { isReady: false, summary, lines };
  }
}

const COMPLAINT_CHARS = MCP_LIMITS.maxStderrLines * MCP_LIMITS.maxStderrLineChars;
