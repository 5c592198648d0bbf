/** Reads the texts of files that servers look at beside an edited one. */

import { ToolFailure } from '../../machine/failure.ts';
import { decode } from '../edits/text.ts';
import { readContent, type Workspace } from '../workspace/index.ts';

/** By its absolute path. Null for a file that is gone, closed to the call, or no text in UTF-8. */
export async function readText(
  path: string,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const place = await workspace.resolve(workspace.nameOf(path), 'read');
    const decoded = decode((await readContent(place, signal)).bytes);
    return decoded.kind === 'utf8' ? decoded.text : null;
  } catch (error) {
    if (error instanceof ToolFailure) return null;
    throw error;
  }
}
