/** What a tool of an MCP server returned, as a result for the model and for people. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { canonicalJson } from '../../shared/approval-text.ts';
import { ResultImage } from '../../shared/documents.ts';
import { indentedJson, parseJson } from '../../shared/json.ts';
import { nameInLine } from '../../shared/plain-sight.ts';
import type { ToolResult } from '../../shared/tunnel.ts';
import { BoundedOutput } from '../terminal/output.ts';
import { MCP_LIMITS } from './limits.ts';

type Content = CallToolResult['content'][number];

/**
 * Text stands as it came, cut in its middle when it is long. People get the images as well, as far as they fit. Of
 * anything else the kind and the size are told.
 */
export function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const images = shownImages(content);
  const parts = content.map((part) => describe(part, images));
  if (structuredContent !== undefined && !content.some((part) => repeats(part, structuredContent)))
    parts.push(indentedJson(structuredContent));
  const output = new BoundedOutput();
  output.append(parts.join('\n\n') || '(The tool returned nothing.)');
  const data = output.toString();
  const shown = images.size === 0 ? {} : { metadata: { images: [...images.values()] } };
  return isError === true
    ? { status: 'error', code: 'TOOL_ERROR', data, ...shown }
    : { status: 'success', data, ...shown };
}

/** The images that a document can carry, in their order: the first ones that fit together. */
function shownImages(content: readonly Content[]): ReadonlyMap<Content, ResultImage> {
  let left: number = MCP_LIMITS.maxImageChars;
  const images = new Map<Content, ResultImage>();
  for (const part of content) {
    const image = ResultImage.safeParse(part.type === 'image' ? part : undefined).data;
    if (image === undefined || image.data.length > left) continue;
    left -= image.data.length;
    images.set(part, image);
  }
  return images;
}

/** Whether a text is the structured content as JSON: most servers send both. */
function repeats(part: Content, structured: object): boolean {
  if (part.type !== 'text' || !part.text.trimStart().startsWith('{')) return false;
  try {
    return canonicalJson(parseJson(part.text)) === canonicalJson(structured);
  } catch {
    return false; // It is other text.
  }
}

/** One part of a result, a message of a prompt or a resource, as text. `images` are those that the person is shown. */
export function describe(part: Content, images: ReadonlyMap<Content, ResultImage>): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio': {
      const shown = images.has(part) ? 'shown to the person' : 'not shown';
      return `[${part.type}: ${nameInLine(part.mimeType)}, ${bytesOf(part.data)} bytes, ${shown}]`;
    }
    case 'resource_link':
      return `[resource: ${nameInLine(part.uri)}, ${nameInLine(part.name)}]`;
    case 'resource':
      return describeResource(part.resource);
  }
}

type Resource = Extract<Content, { type: 'resource' }>['resource'];

/** The address, and the text below it. */
export function describeResource(resource: Resource): string {
  const head = `[resource: ${nameInLine(resource.uri)}]`;
  return 'text' in resource
    ? `${head}\n${resource.text}`
    : `${head}\n[${bytesOf(resource.blob)} bytes, not shown]`;
}

/** Of base64: three bytes in four characters. */
function bytesOf(base64: string): number {
  return Math.floor((base64.replace(/={1,2}$/, '').length * 3) / 4);
}
