/** Lets the person change a proposed file before allowing it, with any editor. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { PRIVATE_FILE } from '../../machine/private-files.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { inOneLine } from '../../shared/plain-sight.ts';
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
  const file = join(folder, basename(path));
  try {
    await writeFile(file, text, { mode: PRIVATE_FILE });
    terminal.write(`Change and save this file: ${inOneLine(file)}\n`);
    while (true) {
      const typed = await terminal.ask('Enter writes it as you saved it; n goes back: ', signal);
      if (typed === undefined || typed.trim() !== '') return undefined;
      const changed = await readFile(file, 'utf8');
      if (changed.length <= REQUEST_LIMITS.maxAmendedChars) return changed;
      terminal.write(`It may have at most ${REQUEST_LIMITS.maxAmendedChars} characters.\n`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
