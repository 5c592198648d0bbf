/** Includes the files that a rule names as `@path`. */
import { posix } from 'node:path';
import { withoutEnd } from '../../shared/text/mentions.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { RULE_READ_LIMITS } from './limits.ts';
import type { FoundText } from './texts.ts';

export interface Including {
  /** The rule's own path, relative to the workspace; null for the owner's file, whose paths are relative to it too. */
  readonly path: string | null;
  /** Real paths of the rule and of rules that are sent anyway. They are not included. */
  readonly sent: ReadonlySet<string>;
  /** Reads a file of the workspace. */
  readonly read: (name: string) => Promise<FoundText>;
}

export interface Included {
  readonly text: string;
  readonly notes: readonly string[];
}

/** The text, and behind it each included file once, under its name. A cycle ends where it begins again. */
export async function withReferences(text: string, including: Including): Promise<Included> {
  const seen = new Set(including.sent);
  const folder = including.path === null ? '.' : posix.dirname(including.path);
  const todo = [{ text, folder, depth: 0 }];
  const parts = [text];
  const notes: string[] = [];
  // The loop also visits the files that it adds.
  for (const one of todo) {
    for (const reference of referencesIn(one.text)) {
      const found = await find(reference, one.folder, including.read);
      if (found.state === 'none') {
        // `@types/node` and `@ada` are no files that are missing.
        if (hasExtension(reference)) notes.push(`@${reference} does not exist`);
      } else if (found.state === 'unusable') {
        notes.push(`@${reference} is not included: ${found.reason}`);
      } else if (!seen.has(found.path)) {
        if (one.depth === RULE_READ_LIMITS.maxReferenceDepth || isFull(parts)) {
          notes.push(`@${reference} is not included: too many files include each other`);
          continue;
        }
        seen.add(found.path);
        parts.push(`From ${nameInLine(found.name)}:\n${found.text.trim()}`);
        const folder = posix.dirname(found.name);
        todo.push({ text: found.text, folder, depth: one.depth + 1 });
      }
    }
  }
  return { text: parts.join('\n\n'), notes };
}

/** The paths behind `@` outside of code, each once, without the full stop of a sentence. */
function referencesIn(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, ' ');
  const names = [...prose.matchAll(/(?<![\w@/.-])@([\w][\w./-]*)/g)].map(([, name = '']) =>
    withoutEnd(name, './-'),
  );
  return [...new Set(names)].slice(0, RULE_READ_LIMITS.maxReferences);
}

type FoundReference = Exclude<FoundText, { state: 'text' }> | ReferencedFile;
type ReferencedFile = Extract<FoundText, { state: 'text' }> & { readonly name: string };

/** Looks beside the file that names the reference, then from the workspace. */
async function find(
  reference: string,
  folder: string,
  read: Including['read'],
): Promise<FoundReference> {
  let unusable: FoundReference | null = null;
  for (const name of new Set([posix.join(folder, reference), posix.normalize(reference)])) {
    const found = await read(name);
    if (found.state === 'text') return { ...found, name };
    if (found.state === 'unusable') unusable ??= found;
  }
  return unusable ?? { state: 'none' };
}

function hasExtension(reference: string): boolean {
  return /\.[A-Za-z]\w*$/.test(reference);
}

function isFull(parts: readonly string[]): boolean {
  return parts.length > RULE_READ_LIMITS.maxReferences;
}
