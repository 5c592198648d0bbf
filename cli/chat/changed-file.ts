/** Lets the person change a proposed file before allowing it, with any editor. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { Terminal } from '../terminal/terminal.ts';

/**
 * Puts the file into a private temporary folder, and returns its text once the person says that it is right. Undefined
 * if the person gave it up, or the signal withdrew the question; then nothing was answered.
 */
export async function askForChangedFile(
  terminal: Terminal,
  { path, text }: { readonly path: string; readonly text: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-edit-'));
  const file = join(folder, fileName(path));
  try {
    await writeFile(file, text, { mode: PRIVATE_FILE });
    terminal.write(`Change and save this file: ${inOneLine(file)}\n`);
    while (true) {
      const typed = await terminal.ask('Enter writes it as you saved it; n goes back: ', signal);
      if (typed === undefined || typed.trim() !== '') return undefined;
      const changed = await readSaved(file);
      if ('content' in changed) return changed.content;
      terminal.write(`${changed.why}\n`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** With the ending, by which editors know the language. The server may send any text as a path. */
function fileName(path: string): string {
  return `changed${/\.\w{1,20}$/.exec(path)?.[0] ?? ''}`;
}

type Saved = { readonly content: string } | { readonly why: string };

/** What cannot be signed as the person sees it in the editor is asked for again. */
async function readSaved(file: string): Promise<Saved> {
  const { maxAmendedChars } = REQUEST_LIMITS;
  try {
    const { size } = await stat(file);
    // A character takes three bytes at most.
    const bytes = size > 3 * maxAmendedChars ? undefined : await readFile(file);
    const content = bytes && new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (content !== undefined && content.length <= maxAmendedChars) return { content };
    return { why: `It may have at most ${maxAmendedChars} characters.` };
  } catch (error) {
    if (error instanceof TypeError) return { why: 'It is not UTF-8: save it as UTF-8.' };
    if (!isSystemError(error, 'ENOENT', 'EISDIR', 'EACCES')) throw error;
    return { why: 'It is no file that can be read: save it there.' };
  }
}
