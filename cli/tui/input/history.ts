/** What the person wrote in earlier chats, in a file of the state folder. A damaged or missing file is an empty history. */
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { PRIVATE_FILE, readIfThere, replaceFile } from '../../../machine/private-files.ts';
import { parseIfJson } from '../../../shared/text/json.ts';
import { INPUT_LIMITS } from './limits.ts';

const Line = z.object({ text: z.string().min(1).max(INPUT_LIMITS.maxHistoryChars) });

export class PromptHistory {
  readonly #path: string | undefined;
  /** The oldest first. */
  #texts: string[] = [];
  /** Of this chat, not in the file yet: whether the conversation is private is not known. */
  #unkept: string[] = [];
  /** Whether the next text replaces a file that is too large or damaged as a whole. */
  #isUnreadable = false;

  /** Without a state folder, only this chat's texts are kept, in memory. */
  constructor(stateDir: string | undefined) {
    this.#path = stateDir === undefined ? undefined : join(stateDir, 'history.jsonl');
  }

  /** The newest first. */
  get texts(): readonly string[] {
    return this.#texts.toReversed();
  }

  /** Never rejects. Shortens a file that has grown. */
  async load(): Promise<void> {
    if (this.#path === undefined) return;
    const file = await readIfThere(this.#path).catch(() => {
      this.#isUnreadable = true;
      return undefined;
    });
    if (file === undefined) return;
    const lines = file.split('\n').filter((line) => line !== '');
    const read = lines.flatMap((line) => Line.safeParse(parseIfJson(line)).data?.text ?? []);
    const { maxHistory } = INPUT_LIMITS;
    this.#texts = [...read.slice(-maxHistory), ...this.#texts];
    if (lines.length > 2 * maxHistory)
      this.#write((path) => replaceFile(path, linesOf(this.#texts)));
  }

  add(text: string): void {
    if (text.length > INPUT_LIMITS.maxHistoryChars || text === this.#texts.at(-1)) return;
    this.#texts.push(text);
    this.#unkept.push(text);
  }

  /** Once it is known whether the conversation is private: its texts are never written to the disk. */
  settle(isPrivate: boolean): void {
    const texts = this.#unkept.splice(0);
    if (isPrivate || texts.length === 0) return;
    if (this.#isUnreadable) this.#write((path) => replaceFile(path, linesOf(texts)));
    else this.#write((path) => appendFileSync(path, linesOf(texts), { mode: PRIVATE_FILE }));
    this.#isUnreadable = false;
  }

  /** A history that cannot be kept is no reason to disturb the person. The folder is made by the server alone. */
  #write(write: (path: string) => void): void {
    if (this.#path === undefined) return;
    try {
      if (statSync(join(this.#path, '..')).isDirectory()) write(this.#path);
    } catch {
      // A full disk, or a folder of another user.
    }
  }
}

function linesOf(texts: readonly string[]): string {
  return texts.map((text) => `${JSON.stringify({ text })}\n`).join('');
}
