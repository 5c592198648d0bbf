/** Finds what others changed in the workspace since a conversation last saw it or worked in it. */

import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { compute } from '../../machine/compute/compute.ts';
import { ToolFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import type { LedgerFile, ReadLedger } from '../../packages/host/index.ts';
import { stampText } from '../../packages/workspace/index.ts';
import { FINDING_LIMITS } from '../../shared/limits.ts';
import type { Findings } from '../../shared/wire/findings.ts';
import { CONTENT_TASKS } from '../compute/tasks.ts';
import { type Reading, readSmall } from './file-text.ts';
import { FIND_LIMITS } from './limits.ts';

type Changed = Findings['changed'][number];

/** What a file at a state of its entry on the disk differs by from a content; null where it does not. */
interface ComparedFile {
  readonly stamp: string;
  readonly text: string | null;
}

/** The first of a list, and how many more there are. */
interface Some<Item> {
  readonly some: readonly Item[];
  readonly rest: number;
}

function firstOf<Item>(all: readonly Item[], max: number): Some<Item> {
  return { some: all.slice(0, max), rest: Math.max(0, all.length - max) };
}

/** Lives as long as the bridge process, as the ledger does. */
export class EditHistory {
  readonly #ledger: ReadLedger;
  /** By path and the hash of the content that was seen. A file whose entry has not changed is not read again. */
  readonly #compared = new Map<string, ComparedFile>();

  constructor(ledger: ReadLedger) {
    this.#ledger = ledger;
  }

  /**
   * Files that are no longer as the conversation read or left them, each with the difference. The
   * same again at each look, until the conversation reads the file.
   */
  async changedSince(conversationId: string, reading: Reading): Promise<Some<Changed>> {
    const seen = this.#ledger.filesOf(conversationId).slice(0, FIND_LIMITS.maxCompared);
    const all = await Promise.all(
      seen.map(([path, file]) => this.#compare(path, file, reading).catch(nothingForFailure)),
    );
    const { some, rest } = firstOf(
      all.filter((file) => file !== null),
      FINDING_LIMITS.maxChangedFiles,
    );
    let left: number = FIND_LIMITS.maxAllDiffChars;
    const shown = some.map(({ path, text }) => {
      const isFitting = text.length <= left;
      left -= isFitting ? text.length : 0;
      return { path, text: isFitting ? text : '(changed: read it again)' };
    });
    return { some: shown, rest };
  }

  /**
   * Of the names that git lists as changed, those that changed since the conversation's last call, or since its last
   * look; without the files that {@link changedSince} is about. Nothing at the first look of this process.
   */
  async touchedSince(
    conversationId: string,
    gitStatus: string | undefined,
    { nameable }: Reading,
  ): Promise<Some<string>> {
    const since = this.#ledger.worked(conversationId, Date.now());
    if (since === undefined || gitStatus === undefined) return { some: [], rest: 0 };
    const seen = new Set(this.#ledger.filesOf(conversationId).map(([path]) => path));
    const names = namesIn(gitStatus).filter((name) => {
      const path = join(nameable.root, name);
      return !name.endsWith('/') && !seen.has(path) && nameable.mayName(path);
    });
    const times = await Promise.all(names.map((name) => changeTime(join(nameable.root, name))));
    const touched = names.filter((_, index) => (times[index] ?? 0) > since);
    return firstOf(touched, FINDING_LIMITS.maxTouchedFiles);
  }

  /** Null for a file that is as it was seen. */
  async #compare(path: string, seen: LedgerFile, reading: Reading): Promise<Changed | null> {
    const name = reading.readable.nameOf(path);
    if (name.startsWith('../')) return null; // In a worktree of the conversation.
    const stamp = await stampOf(path);
    if (stamp === null) return { path: name, text: '(deleted)' };
    const key = `${path}\0${seen.hash}`;
    const known = this.#compared.get(key);
    const isKnown = known?.stamp === stamp;
    const text = isKnown ? known.text : await describe(name, seen, reading);
    if (!isKnown) this.#remember(key, { stamp, text });
    return text === null || !isReadable(path, reading) ? null : { path: name, text };
  }

  #remember(key: string, compared: ComparedFile): void {
    this.#compared.delete(key);
    this.#compared.set(key, compared);
    const [oldest] = this.#compared.keys();
    if (oldest && this.#compared.size > FIND_LIMITS.maxComparisons) this.#compared.delete(oldest);
  }
}

function isReadable(path: string, { readable }: Reading): boolean {
  return readable.mayName(path) && readable.mayShow(path);
}

/** Null for a file that is as it was seen. */
async function describe(name: string, seen: LedgerFile, reading: Reading): Promise<string | null> {
  const place = await reading.readable.resolve(name, 'read');
  const after = await readSmall(place);
  if (sha256(after) === seen.hash) return null;
  const change = { before: seen.bytes, after, maxChars: FIND_LIMITS.maxDiffChars };
  return await compute(CONTENT_TASKS.describeChange, change, reading.signal);
}

async function stampOf(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  return stats && stampText(stats);
}

/** Of the entry, which a program cannot set back as it can the time of the content. */
async function changeTime(path: string): Promise<number | undefined> {
  return (await lstat(path).catch(() => undefined))?.ctimeMs;
}

/** The names in a status as bridge/context/git-status.ts writes it. A renamed file has two. */
function namesIn(gitStatus: string): string[] {
  const lines = gitStatus.split('\n').filter((line) => /^(?!##|\.\.\.|\().. ./.test(line));
  return lines.flatMap((line) => line.slice(3).split(' -> ').map(unquoted));
}

function unquoted(name: string): string {
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    return name; // A name that was not quoted by us: it names no file.
  }
}

/** Leaves out a file that cannot be read any more: the next call on it says why. */
function nothingForFailure(error: unknown): null {
  if (error instanceof ToolFailure) return null;
  throw error;
}
