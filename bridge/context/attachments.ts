/** Reads the files and folders that a message names. Web pages come from bridge/web/, skills from bridge/skills/. */

import { lstat } from 'node:fs/promises';
import { posix } from 'node:path';
import { compute } from '../../machine/compute/compute.ts';
import { filterInTurns } from '../../machine/compute/turns.ts';
import { ToolFailure, toFileFailure } from '../../machine/failure.ts';
import { listFiles } from '../../packages/code-index/index.ts';
import type { ResolvedPath } from '../../packages/workspace/index.ts';
import { FINDING_LIMITS } from '../../shared/limits.ts';
import { cutLines } from '../../shared/text/cut-lines.ts';
import type { CalledMention, Mention } from '../../shared/text/mentions.ts';
import { nameInLine, shorten } from '../../shared/text/plain-sight.ts';
import type { Attachment } from '../../shared/wire/findings.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { type Reading, readLines } from './file-text.ts';
import { FIND_LIMITS } from './limits.ts';

/** A skill or a command, with the text that the model gets. */
export interface CalledText {
  readonly skill: { readonly type: 'skill' | 'command'; readonly name: string };
  readonly text: string;
}

export interface Attaching extends Reading {
  /** The text of a web page. Throws a {@link ToolFailure} where the policy does not let it be read, or it fails. */
  readonly readPage: (url: string) => Promise<string>;
  /** The text of a skill or a command; undefined where none has the name. */
  readonly readSkill?: ((called: CalledMention) => Promise<CalledText | undefined>) | undefined;
}

/**
 * What the mentions lead to, in their order, within FIND_LIMITS.maxAllAttachedChars. Words that name nothing are left
 * out, unless they can only mean a file. Of a file that is there and cannot be shown, the attachment has the reason.
 */
export async function attach(
  mentions: readonly Mention[],
  attaching: Attaching,
): Promise<Attachment[]> {
  const found = await Promise.all(mentions.map((mention) => attachOne(mention, attaching)));
  return fitted(found.filter((attachment) => attachment !== null));
}

async function attachOne(mention: Mention, attaching: Attaching): Promise<Attachment | null> {
  if (mention.type === 'command') {
    const found = await attaching.readSkill?.(mention);
    return found ? attachment(found.skill.type, found.skill.name, found.text) : null;
  }
  const name = mention.type === 'url' ? mention.url : mention.path;
  try {
    if (mention.type === 'path') return await attachPath(mention, attaching);
    const text = await attaching.readPage(mention.url);
    return attachment('url', name, text);
  } catch (error) {
    attaching.signal.throwIfAborted();
    if (!(error instanceof ToolFailure)) throw error;
    const isMeant = mention.type === 'url' || mention.isCertain || !MAY_BE_WORDS.has(error.code);
    return isMeant ? attachment('none', name, error.message) : null;
  }
}

/** The failures of words that need not name a file. Any other failure is that of a file which is there. */
const MAY_BE_WORDS: ReadonlySet<string> = new Set([
  'FILE_NOT_FOUND',
  'NOT_A_FOLDER',
  'INVALID_PATH',
  'OUTSIDE_WORKSPACE',
  'DENIED',
  'PATH_NOT_ALLOWED',
]);

async function attachPath(
  { path, lines }: Extract<Mention, { type: 'path' }>,
  attaching: Attaching,
): Promise<Attachment> {
  const place = await attaching.readable.resolve(path, 'read');
  if (await isFolder(place)) {
    return attachment('folder', place.name, await describeFolder(place, attaching));
  }
  const maxChars = FINDING_LIMITS.maxAttachedChars;
  const wanted = lines && { offset: lines.from, limit: lines.to - lines.from + 1 };
  const { text } = await readLines(place, { ...wanted, maxChars }, attaching);
  return attachment('file', place.name, text);
}

async function isFolder(place: ResolvedPath): Promise<boolean> {
  try {
    return (await lstat(place.path)).isDirectory();
  } catch (error) {
    throw toFileFailure(error, place.name);
  }
}

/** The tree of the folder, as the layout of the workspace shows it, and the beginnings of its first small files. */
async function describeFolder(place: ResolvedPath, attaching: Attaching): Promise<string> {
  const { nameable, readable, signal } = attaching;
  const nameOf = (name: string) => posix.join(place.name, name);
  const isIn = (workspace: typeof readable) => (name: string) =>
    workspace.mayName(posix.join(place.path, name));
  const files = await filterInTurns(
    await listFiles({ folder: place.path, signal }),
    isIn(nameable),
  );
  if (files.length === 0) return '(no files, or all of them are hidden or ignored)';
  const tree = await compute(CONTENT_TASKS.formatLayout, files.join('\0'), signal);
  const near = files.filter((name) => !name.includes('/') && isIn(readable)(name)).sort();
  const heads = await Promise.all(
    near.slice(0, FIND_LIMITS.maxFolderFiles).map((name) => headOf(nameOf(name), attaching)),
  );
  return [tree, ...heads.flat()].join('\n\n');
}

/** Empty for a file that cannot be shown, such as an image. */
async function headOf(name: string, attaching: Attaching): Promise<string[]> {
  try {
    const place = await attaching.readable.resolve(name, 'read');
    const maxChars = FIND_LIMITS.maxFolderFileChars;
    const { text } = await readLines(place, { maxChars }, attaching);
    return [`${nameInLine(name)}:\n${text}`];
  } catch (error) {
    attaching.signal.throwIfAborted();
    if (error instanceof ToolFailure) return [];
    throw error;
  }
}

function attachment(type: Attachment['type'], name: string, text: string): Attachment {
  const { maxAttachedChars } = FINDING_LIMITS;
  const short =
    type === 'none' ? shorten(text, maxAttachedChars) : cutLines(text, maxAttachedChars);
  return { type, name, text: short };
}

/** Leaves out what does not fit beside the attachments before it, and says so. */
function fitted(attachments: readonly Attachment[]): Attachment[] {
  let left: number = FIND_LIMITS.maxAllAttachedChars;
  return attachments.map(({ type, name, text }) => {
    if (text.length > left) return { type: 'none', name, text: tooMuch(text.length) };
    left -= text.length;
    return { type, name, text };
  });
}

function tooMuch(chars: number): string {
  return `It is left out, because the message names too much: it has ${chars} characters. Read it with a tool.`;
}
