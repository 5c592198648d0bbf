/** What a bridge says of its MCP servers, in words. */
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { McpServerReport } from '../../shared/wire/mcp-servers.ts';
import { asTyped } from '../terminal/own-command.ts';

/** In a few words, for a list. */
export function mcpStateOf({
  state,
  reason = '',
  why,
  toolCount,
  cutCount,
}: McpServerReport): string {
  if (state === 'starting') return 'starting';
  if (why === 'disabled') return reason;
  if (state === 'down') return `down, ${inOneLine(asTyped(reason))}`;
  const cut =
    cutCount === undefined ? '' : `, ${cutCount} of them not offered: too many for a model`;
  return `running, ${toolCount} tools${cut}`;
}
