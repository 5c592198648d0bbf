/** What the SDK refuses of MCP servers that are otherwise right. */
import type { Transport } from '@modelcontextprotocol/client';

/**
 * Makes results without `resultType` complete ones, for a client that is connected: the SDK refuses them of servers of
 * version 2026-07-28, and some forget the field.
 */
export function takePlainResults(transport: Transport): void {
  const take = transport.onmessage?.bind(transport);
  transport.onmessage = (message, extra) => {
    const isPlain = 'result' in message && message.result['resultType'] === undefined;
    if (isPlain) message.result['resultType'] = 'complete';
    take?.(message, extra);
  };
}
