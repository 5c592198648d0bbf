/** Finds what others changed in the workspace since a conversation last saw it or worked in it. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Findings } from '../../shared/findings.ts';
import { FINDING_LIMITS } from '../../shared/limits.ts';
import { compute } from '../compute/compute.ts';
import { ToolFailure } from '../failure.ts';
import type { ReadLedger, SeenFile } from '../tools/ledger.ts';
import { hashOf } from '../workspace/files.ts';
import { type Reading, readSmall } from './file-text.ts';

type Changed = Findings['changed'][number];

/** The content that a file had at a state of its entry on the disk. */
interface Checked {
  readonly stamp: string;
  readonly hash: string | null;
}

/** Lives as long as the bridge process, as the ledger does. */
export class EditHistory {
  readonly #ledger: ReadLedger;
  /** By path. A file whose entry has not changed is not read again. */
  #checked = new Map<string, Checked>();

  constructor(ledger: ReadLedger) {
    this.#ledger = ledger;
  }

  /**
   * Files that are no longer as the conversation read or left them, each with the difference, whoever changed them. The
   * same again at each look, until the conversation reads the file.
   */
  async changedSince(conversationId: string, reading: Reading): Promise<Changed[]> {
    const seen = this.#ledger.filesOf(conversationId).slice(0, MAX_COMPARED);
    const all = await Promise.all(
      seen.map(([path, file]) => this.#compare(path, file, reading).catch(nothingForFailure)),
    );
    const { maxChangedFiles, maxAllDiffChars } = FINDING_LIMITS;
    let left: number = maxAllDiffChars;
    return all
      .filter((file) => file !== null)
      .slice(0, maxChangedFiles)
      .map(({ path, text }) => {
        const isFitting = text.length <= left;
        left -= isFitting ? text.length : 0;
        return { path, text: isFitting ? text : '(changed: read it again)' };
      });
  }

  /**
   * Of the names that git lists as changed, those that changed since the conversation's last call, or since its last
   * look; without the files that {@link changedSince} is about. Nothing at the first look of this process.
   */
  async touchedSince(
    conversationId: string,
    gitStatus: string | undefined,
    { nameable }: Reading,
  ): Promise<string[]> {
    const since = this.#ledger.worked(conversationId, Date.now());
    if (since === undefined || gitStatus === undefined) return [];
    const seen = new Set(this.#ledger.filesOf(conversationId).map(([path]) => path));
    const names = namesIn(gitStatus).filter((name) => {
      const path = join(nameable.root, name);
      return !name.endsWith('/') && !seen.has(path) && nameable.mayName(path);
    });
    const times = await Promise.all(names.map((name) => changeTime(join(nameable.root, name))));
    const touched = names.filter((_, index) => (times[index] ?? 0) > since);
    return touched.slice(0, FINDING_LIMITS.maxTouchedFiles);
  }

  /** Null for a file that is as it was seen. */
  async #compare(path: string, seen: SeenFile, reading: Reading): Promise<Changed | null> {
    const name = reading.readable.nameOf(path);
    if (name.startsWith('../')) return null; // In a worktree of the conversation.
    const stamp = await stampOf(path);
    if (stamp === null) return { path: name, text: '(deleted)' };
    const known = this.#checked.get(path);
    if (known?.stamp === stamp && known.hash === seen.hash) return null;
    const place = await reading.readable.resolve(name, 'read');
    const bytes = await readSmall(place);
    const hash = hashOf(bytes);
    this.#remember(path, { stamp, hash });
    if (hash === seen.hash) return null;
    const maxChars = FINDING_LIMITS.maxDiffChars;
    const change = { before: seen.bytes, after: bytes, maxChars };
    return { path: name, text: await compute('describeChange', change, reading.signal) };
  }

  #remember(path: string, checked: Checked): void {
    this.#checked.delete(path);
    this.#checked.set(path, checked);
    const [oldest] = this.#checked.keys();
    if (oldest && this.#checked.size > MAX_CHECKED) this.#checked.delete(oldest);
  }
}

/** Files that one look compares, the latest first: each takes some 20 µs while it stays the same. */
const MAX_COMPARED = 300;

/** Paths whose state is remembered: about as many as the ledger has files. */
const MAX_CHECKED = 2_000;

async function stampOf(path: string): Promise<string | null> {
  const stats = await lstat(path, { bigint: true }).catch(() => null);
  return stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join('-');
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
    return name; // A name that was not quoted by us, and that leads nowhere.
  }
}

/** A file that cannot be read any more is not told: the next call on it says why. */
function nothingForFailure(error: unknown): null {
  if (error instanceof ToolFailure) return null;
  throw error;
}
