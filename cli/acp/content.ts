/** What an editor sends with a prompt, as a message of Drawbridge. */
import { fileURLToPath } from 'node:url';
import type { ContentBlock, EmbeddedResource } from '@agentclientprotocol/sdk';
import { wayBelow } from '../../machine/below.ts';
import { type ContentPart, type MessageContent, textOf } from '../../shared/api/requests.ts';
import { fenced } from '../../shared/shown/fence.ts';
import { beginsApart, endsApart } from '../../shared/text/mention-text.ts';
import { toImagePart } from '../chat/image-file.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Links to files and pages are handed over as places, which the bridge reads. Text that comes along, such as a file with
 * unsaved changes or a selection, stands in a fence below the prompt. `folder` is the workspace.
 * @throws {UsageError} for what a message cannot carry.
 */
export async function toMessage(
  blocks: readonly ContentBlock[],
  folder: string,
): Promise<MessageContent> {
  const parts: ContentPart[] = [];
  const below: string[] = [];
  /** Whether the last part is a name, which a blank divides from the words around it. */
  let isName = false;
  const say = (text: string, asName = false) => {
    const last = parts.at(-1);
    const isApart = last?.type !== 'text' || (asName ? endsApart(last.text) : beginsApart(text));
    const blank = (asName || isName) && !isApart ? ' ' : '';
    parts.push({ type: 'text', text: `${blank}${text}` });
    isName = asName;
  };
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        say(block.text);
        break;
      case 'image':
        parts.push(toImagePart(Buffer.from(block.data, 'base64'), block.uri ?? 'in the prompt'));
        break;
      case 'resource_link': {
        const place = await placeOf(block.uri, folder);
        if (place) parts.push(place);
        else say(block.uri, true);
        break;
      }
      case 'resource': {
        const name = await nameOf(block.resource.uri, folder);
        say(`\`${name}\``, true);
        below.push(textOfResource(block, name));
        break;
      }
      case 'audio':
        throw new UsageError('A prompt cannot have audio: send text, files and images.');
      default:
        throw new UsageError('A prompt has text, files and images, and nothing else.');
    }
  }
  for (const text of below) parts.push({ type: 'text', text: `\n\n${text}` });
  return parts.every(({ type }) => type === 'text') ? textOf(parts) : parts;
}

type PlacePart = Extract<ContentPart, { type: 'path' | 'url' }>;

/** A path is relative where it is in the workspace, with the lines that the URI names. Undefined for any other URI. */
async function placeOf(uri: string, folder: string): Promise<PlacePart | undefined> {
  if (/^https?:/i.test(uri)) return { type: 'url', url: uri };
  const path = pathOf(uri);
  if (path === undefined) return undefined;
  const way = await wayBelow(folder, path);
  const [, first, last = first] = /^#L(\d{1,7})(?:[:-]L?(\d{1,7}))?$/.exec(new URL(uri).hash) ?? [];
  const [from, to] = [Number(first), Number(last)];
  return {
    type: 'path',
    path: way ?? path,
    ...(from >= 1 && to >= from && { lines: { from, to } }),
  };
}

/** Undefined for what is no file of this machine. */
function pathOf(uri: string): string | undefined {
  if (!/^file:/i.test(uri) || !URL.canParse(uri)) return undefined;
  try {
    return fileURLToPath(uri.replace(/[?#].*$/s, ''));
  } catch {
    return undefined; // It names another machine.
  }
}

/** As the prompt shows it, in code: nothing reads it there. */
async function nameOf(uri: string, folder: string): Promise<string> {
  const place = await placeOf(uri, folder);
  if (place?.type !== 'path') return uri.replaceAll(/[`\n]/g, ' ');
  const { path, lines } = place;
  return `${path.replaceAll(/[`\n]/g, ' ')}${lines ? `:${lines.from}-${lines.to}` : ''}`;
}

function textOfResource({ resource }: EmbeddedResource, name: string): string {
  if (!('text' in resource)) throw new UsageError(`${name} is not text: attach text or an image.`);
  return fenced(name, resource.text);
}
