/** Lets the person change a proposed file before allowing it, with any editor. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The changed text of the file, from a private temporary folder, once the person says that it is right. */
export async function askForChangedFile(
  terminal: Terminal,
  proposed: ProposedFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  await using put = await putForChange(proposed);
  terminal.write(`Change and save this file: ${inOneLine(put.file)}\n`);
  while (true) {
    const typed = await terminal.ask('Enter writes it as you saved it; n goes back: ', signal);
    if (typed === undefined || typed.trim() !== '') return undefined;
    const changed = await put.read();
    if ('content' in changed) return changed.content;
    terminal.write(`${changed.why}\n`);
  }
}

export interface ProposedFile {
  readonly path: string;
  readonly text: string;
}

/** A proposed file on the disk, for an editor. Disposing of it removes it. */
export interface ChangeableFile extends AsyncDisposable {
  readonly file: string;
  /** What the person saved last. */
  read(): Promise<Saved>;
}

/** Puts the file into a private temporary folder. */
export async function putForChange({ path, text }: ProposedFile): Promise<ChangeableFile> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-edit-'));
  const file = join(folder, fileName(path));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(file, text, { mode: PRIVATE_FILE });
  } catch (error) {
    await remove();
    throw error;
  }
  return { file, read: () => readSaved(file), [Symbol.asyncDispose]: remove };
}

/** With the ending, by which editors know the language. The server may send any text as a path. */
function fileName(path: string): string {
  return `changed${/\.\w{1,20}$/.exec(path)?.[0] ?? ''}`;
}

/** `why` says what a person has to change before the text can be taken. */
export type Saved = { readonly content: string } | { readonly why: string };

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
    return { why: 'It cannot be read: save it there.' };
  }
}
