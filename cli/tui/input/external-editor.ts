/** A message in the person's own editor. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../../machine/private-files.ts';
import { editorIn, openEditor, USUAL_EDITOR } from '../../terminal/editor.ts';

/** The text as the person saved it; undefined if the editor failed. The terminal must be free. */
export async function editText(text: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'drawbridge-message-'));
  const file = join(folder, 'message.md');
  try {
    await writeFile(file, text, { mode: PRIVATE_FILE });
    if (!(await openEditor(editorIn(process.env) ?? USUAL_EDITOR, file))) return undefined;
    return (await readFile(file, 'utf8')).trimEnd();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
