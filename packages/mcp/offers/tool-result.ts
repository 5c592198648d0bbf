/** What a tool of an MCP server returned, as a result for the model and for people. Pure. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { indentedJson, parseJson } from '../../../shared/text/json.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import { canonicalJson } from '../../../shared/wire/approval-text.ts';
import { ResultImage } from '../../../shared/wire/documents.ts';
import type { ToolResult } from '../../../shared/wire/tunnel.ts';
import { BoundedOutput } from '../../sandbox/index.ts';
import { MCP_LIMITS } from '../limits.ts';

type ResultContent = CallToolResult['content'][number];

/**
 * Text stands as it came, cut in its middle when it is long. People get the images as well, as far as they fit. Of
 * anything else there is the kind and the size.
 */
export function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const images = shownImages(content);
  const parts = content.map((part) => describe(part, images));
  if (structuredContent !== undefined && !isSaid(structuredContent, content))
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
function shownImages(content: readonly ResultContent[]): ReadonlyMap<ResultContent, ResultImage> {
  let left: number = MCP_LIMITS.maxImageChars;
  const images = new Map<ResultContent, ResultImage>();
  for (const part of content) {
    const image = ResultImage.safeParse(part.type === 'image' ? part : undefined).data;
    if (image === undefined || image.data.length > left) continue;
    left -= image.data.length;
    images.set(part, image);
  }
  return images;
}

/**
 * Whether the texts say the structured content already, as most servers' do: as JSON, or as the one value of an object
 * (`{"result": …}`), which some SDKs put around it.
 */
function isSaid(structured: unknown, content: readonly ResultContent[]): boolean {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const values = typeof structured === 'object' ? Object.values(structured ?? {}) : [];
  const wrapped = values.length === 1 && !Array.isArray(structured) ? values : [];
  return [structured, ...wrapped].some((value) => {
    const isList = Array.isArray(value) && value.length === texts.length && value.length > 0;
    if (isList && value.every((item, at) => isTextOf(item, texts[at] ?? ''))) return true;
    return [...texts, texts.join('\n')].some((text) => isTextOf(value, text));
  });
}

function isTextOf(value: unknown, text: string): boolean {
  if (typeof value === 'string' && value.trim() === text.trim()) return true;
  try {
    return canonicalJson(parseJson(text)) === canonicalJson(value);
  } catch {
    return false; // It is other text.
  }
}

/** One part of a result, a message of a prompt or a resource, as text. `images` are those that the person is shown. */
export function describe(
  part: ResultContent,
  images: ReadonlyMap<ResultContent, ResultImage>,
): string {
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

type Resource = Extract<ResultContent, { type: 'resource' }>['resource'];

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
