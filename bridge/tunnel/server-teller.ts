/** Tells the edge of the bridge's MCP servers: after each welcome, and after each change. */
import type { McpServerReport } from '../../shared/wire/mcp-servers.ts';
import { type BridgeFrame, MCP_SERVERS_FEATURE } from '../../shared/wire/tunnel.ts';

/** Knows what the edge was told last over this connection. */
export class ServerTeller {
  readonly #read: () => readonly McpServerReport[];
  #send: ((frame: BridgeFrame) => void) | null = null;
  #told: string | undefined;

  constructor(read: () => readonly McpServerReport[]) {
    this.#read = read;
  }

  /** A welcome came. */
  welcomed(features: readonly string[], send: (frame: BridgeFrame) => void): void {
    this.#send = features.includes(MCP_SERVERS_FEATURE) ? send : null;
    this.#told = undefined;
    this.changed();
  }

  /** The connection was lost. */
  lost(): void {
    this.#send = null;
  }

  /** The servers may have changed. */
  changed(): void {
    if (!this.#send) return;
    const servers = [...this.#read()];
    const text = JSON.stringify(servers);
    if (text === this.#told) return;
    this.#told = text;
    this.#send({ type: 'mcp_servers', servers });
  }
}
