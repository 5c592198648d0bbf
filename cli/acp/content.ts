/** What an editor sends with a prompt, as a message of Drawbridge. */
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContentBlock, EmbeddedResource } from '@agentclientprotocol/sdk';
import { type ContentPart, type MessageContent, textOf } from '../../shared/api/requests.ts';
import { fenced } from '../../shared/shown/fence.ts';
import { mentionOf } from '../../shared/text/mention-text.ts';
import { toImagePart } from '../chat/image-file.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Links to files become mentions, which the bridge reads. Text that comes along, such as a file with unsaved changes or
 * a selection, stands in a fence below the prompt. `folder` is the workspace.
 * @throws {UsageError} for what a message cannot carry.
 */
export function toMessage(blocks: readonly ContentBlock[], folder: string): MessageContent {
  const parts: ContentPart[] = [];
  const below: string[] = [];
  const say = (text: string) => {
    const last = parts.at(-1);
    if (last?.type === 'text') last.text += text;
    else parts.push({ type: 'text', text });
  };
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        say(block.text);
        break;
      case 'image':
        parts.push(toImagePart(Buffer.from(block.data, 'base64'), block.uri ?? 'in the prompt'));
        break;
      case 'resource_link':
        say(linkOf(block.uri, folder));
        break;
      case 'resource':
        say(`\`${placeOf(block.resource.uri, folder)}\``);
        below.push(textOfResource(block, folder));
        break;
      case 'audio':
        throw new UsageError('A prompt cannot have audio: send text, files and images.');
      default:
        throw new UsageError('A prompt has text, files and images, and nothing else.');
    }
  }
  for (const text of below) say(`\n\n${text}`);
  return parts.some(({ type }) => type === 'image_url') ? parts : textOf(parts);
}

function linkOf(uri: string, folder: string): string {
  const place = placeOf(uri, folder);
  if (/^https?:/.test(uri)) return `@${uri}`;
  const [path = '', lines] = place.split(LINES);
  if (!uri.startsWith('file:') || /["\n]/.test(path)) return place;
  return `${mentionOf(path)}${lines === undefined ? '' : `:${lines}`}`;
}

function textOfResource({ resource }: EmbeddedResource, folder: string): string {
  const place = placeOf(resource.uri, folder);
  if (!('text' in resource)) {
    throw new UsageError(`${place} is no text: attach text or an image.`);
  }
  return fenced(place.replaceAll('\n', ' '), resource.text);
}

/** The path, relative where it is in the workspace, with the lines that the URI names; other URIs as they are. */
function placeOf(uri: string, folder: string): string {
  if (!uri.startsWith('file:') || !URL.canParse(uri)) return uri;
  const { hash } = new URL(uri);
  const path = fileURLToPath(uri.replace(/[?#].*$/s, ''));
  const inside = relative(folder, path);
  const isInside = inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`);
  const [, from, to = from] = /^#L(\d+)(?:[:-]L?(\d+))?$/.exec(hash) ?? [];
  return `${isInside ? inside : path}${from === undefined ? '' : `:${from}-${to}`}`;
}

/** Divides a path from the lines behind it, as {@link placeOf} writes them. */
const LINES = /:(?=\d+-\d+$)/;
