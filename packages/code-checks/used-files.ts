/** What language servers find in the files that a conversation has used, for its next message. */

import { FINDING_LIMITS, REQUEST_LIMITS } from '../../shared/limits.ts';
import { shorten } from '../../shared/text/plain-sight.ts';
import type { Diagnostics } from '../../shared/wire/findings.ts';
import type { Workspace } from '../workspace/index.ts';
import { isError } from './findings.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';
import type { LanguageServers } from './servers.ts';
import { readText } from './texts.ts';

export interface UsedFiles {
  /** Resolved paths, the latest first. */
  readonly used: readonly string[];
  /** The workspace without what the model could not read without a question. */
  readonly readable: Workspace;
  readonly signal: AbortSignal;
}

/**
 * Asks only servers that run: a message does not wait for a start. Undefined where none does, and where one answer is
 * missing: an error that is not shown would look fixed.
 */
export async function usedFileDiagnostics(
  servers: LanguageServers,
  { used, readable, signal }: UsedFiles,
  maxMs: number = DIAGNOSTICS_LIMITS.maxMessageHoldMs,
): Promise<Diagnostics | undefined> {
  const items: Diagnostics['items'] = [];
  let isAny = false;
  const endMs = performance.now() + maxMs;
  for (const path of used) {
    const name = readable.nameOf(path);
    if (name.startsWith('../') || !readable.mayShow(path)) continue;
    const isAwake = await servers.isAwakeFor(path);
    if (isAwake === undefined) continue;
    const text = isAwake ? await readText(path, readable, signal) : undefined;
    if (text === null) continue;
    if (text === undefined) return undefined;
    const file = { path, kept: text };
    const leftMs = Math.max(0, Math.floor(endMs - performance.now()));
    const look = await servers.look(file, leftMs, signal);
    if (look?.state !== 'checked') return undefined;
    isAny = true;
    for (const { line, column, severity, message, code } of look.findings) {
      const source = code === '' ? {} : { source: shorten(code, REQUEST_LIMITS.maxNameChars) };
      items.push({ path: name, line, column, severity, message, ...source });
    }
  }
  if (!isAny) return undefined;
  const sorted = items.toSorted((a, b) => Number(isError(b)) - Number(isError(a)));
  const shown = sorted.slice(0, FINDING_LIMITS.maxDiagnostics);
  return { items: shown, leftOut: sorted.length - shown.length };
}
