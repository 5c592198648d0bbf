/** A proposed file on the disk, so that a person can change it with an editor before they allow it. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';

/** The path of the workspace is only a name: the text is elsewhere. */
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
  // With the ending, by which editors know the language. The server may send any text as a path.
  const file = join(folder, `changed${/\.\w{1,20}$/.exec(path)?.[0] ?? ''}`);
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await writeFile(file, text, { mode: PRIVATE_FILE });
  } catch (error) {
    await remove();
    throw error;
  }
  return { file, read: () => readSaved(file), [Symbol.asyncDispose]: remove };
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
