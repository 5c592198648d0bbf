/**
 * An editor's word that the person does not trust the workspace. Any editor may say so, also one that is not confirmed:
 * it only tightens. It stays in the state folder, over the end of the editor and of the bridge, until a person takes it
 * back: in a confirmed editor, or by `drawbridge ide trust`.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { logEvent } from '../../machine/log.ts';
import { replaceFile } from '../../machine/private-files.ts';

export class Distrust {
  readonly #path: string;
  /** Whether the disk did not take the file. */
  #isUnwritten = false;

  constructor(stateDir: string) {
    this.#path = join(stateDir, 'editor-distrust.json');
  }

  /** Read anew each time: the person's command is another process. A damaged file counts. */
  get isKept(): boolean {
    return this.#isUnwritten || existsSync(this.#path);
  }

  keep(): void {
    if (this.isKept) return;
    try {
      replaceFile(this.#path, `${JSON.stringify({ since: new Date().toISOString() })}\n`);
    } catch {
      this.#isUnwritten = true;
    }
    const message =
      'An editor said that you do not trust this workspace: every call asks, until `drawbridge ide trust`.';
    logEvent({ event: 'attention_needed', message });
  }

  /** Only for a person's word. */
  lift(): void {
    this.#isUnwritten = false;
    rmSync(this.#path, { force: true });
  }
}
