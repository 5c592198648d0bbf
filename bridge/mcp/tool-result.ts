/** What a tool of an MCP server returned, as a result for the model and for people. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { BoundedOutput } from '../terminal/output.ts';

/** Text stands as it came, cut in its middle when it is long; of anything else the kind and the size are told. */
export function toToolResult(result: CallToolResult): ToolResult {
  const output = new BoundedOutput();
  const parts = result.content.map(describe);
  // Servers that return structured content repeat it as text, so that it is told once.
  if (parts.length === 0 && result.structuredContent !== undefined)
    parts.push(JSON.stringify(result.structuredContent, undefined, 2));
  output.append(parts.join('\n\n') || '(The tool returned nothing.)');
  const data = output.toString();
  return result.isError === true
    ? { status: 'error', code: 'TOOL_ERROR', data }
    : { status: 'success', data };
}

function describe(part: CallToolResult['content'][number]): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.type}: ${nameInLine(part.mimeType)}, ${bytesOf(part.data)} bytes, not shown]`;
    case 'resource_link':
      return `[resource: ${nameInLine(part.uri)}, ${nameInLine(part.name)}]`;
    case 'resource': {
      const { resource } = part;
      const head = `[resource: ${nameInLine(resource.uri)}]`;
      return 'text' in resource
        ? `${head}\n${resource.text}`
        : `${head}\n[${bytesOf(resource.blob)} bytes, not shown]`;
    }
  }
}

/** Of base64: three bytes in four characters. */
function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
}
