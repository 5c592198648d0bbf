/** Tries the companions that a search has found. */
import type { Candidate, Discovery } from '../discovery/candidate.ts';
import { Companion } from './companion.ts';
import type { LinkLimits } from './limits.ts';
import type { EditorNews } from './wire.ts';

/** The companions to try, best first, and the addresses to try for each, in this order. */
export interface FoundCompanions extends Pick<Discovery, 'ranked'> {
  readonly hosts: readonly string[];
}

/** Orders candidates: the confirmed first, and the unsteady last. Otherwise their order stays. */
export async function prefer(
  ranked: readonly Candidate[],
  isConfirmed: (candidate: Candidate) => Promise<boolean>,
  isUnsteady: (candidate: Candidate) => boolean,
): Promise<readonly Candidate[]> {
  const weighed = await Promise.all(
    ranked.map(async (candidate) => ({
      candidate,
      weight: 2 * Number(isUnsteady(candidate)) - Number(await isConfirmed(candidate)),
    })),
  );
  weighed.sort((a, b) => a.weight - b.weight);
  return weighed.map(({ candidate }) => candidate);
}

export interface FirstOptions {
  readonly limits: LinkLimits;
  readonly onNews: (from: Candidate, news: EditorNews) => void;
  readonly signal: AbortSignal;
}

/** Tries companions in their order. Undefined where none answers. Rejects only with the signal's reason. */
export async function connectFirst(
  { ranked, hosts }: FoundCompanions,
  { limits, onNews, signal }: FirstOptions,
): Promise<Companion | undefined> {
  let hanging = 0;
  for (const candidate of ranked) {
    for (const host of hosts) {
      const startedMs = performance.now();
      try {
        const take = (news: EditorNews) => onNews(candidate, news);
        return await Companion.connect(candidate, host, { limits, onNews: take, signal });
      } catch {
        signal.throwIfAborted();
        if (performance.now() - startedMs >= limits.connectMs) hanging++;
      }
      if (hanging >= limits.maxHanging) return undefined;
    }
  }
  return undefined;
}
