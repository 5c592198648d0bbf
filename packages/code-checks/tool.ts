/** Runs read_lints: shows what language servers find in files as they are. */

import { ToolFailure } from '../../machine/failure.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { readLints } from '../../shared/tools/read-lints.ts';
import { decode } from '../edits/text.ts';
import { type BridgeTool, doing } from '../host/index.ts';
import { type ResolvedPath, readContent } from '../workspace/index.ts';
import { describeFinding } from './edit-checks.ts';
import { isError } from './findings.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';
import type { LanguageServers } from './servers.ts';

/** The tool of one folder. Without servers it says of each file that nothing checks it. */
export function createReadLints(servers: LanguageServers | undefined): BridgeTool {
  return doing(readLints, async (_, { places, signal }) => {
    const parts: string[] = [];
    // One after the other: a server looks at one file at a time.
    for (const place of places) parts.push(await lintsOf(place, servers, signal));
    return { status: 'success', data: parts.join('\n') };
  });
}

async function lintsOf(
  place: ResolvedPath,
  servers: LanguageServers | undefined,
  signal: AbortSignal,
): Promise<string> {
  const name = nameInLine(place.name);
  const decoded = decode((await readContent(place, signal)).bytes);
  if (decoded.kind === 'binary') throw new ToolFailure('BINARY_FILE', `${name} is no text file.`);
  const file = { path: place.path, kept: decoded.text };
  const look = await servers?.look(file, DIAGNOSTICS_LIMITS.maxReadMs, signal);
  if (!look) return `${name}: not checked: no language server is for such files.`;
  if (look.state === 'not_checked') return `${name}: not checked: ${look.reason}.`;
  const findings = look.findings.toSorted((a, b) => Number(isError(b)) - Number(isError(a)));
  if (findings.length === 0) return `${name}: no errors or warnings (${look.by}).`;
  const shown = findings.slice(0, DIAGNOSTICS_LIMITS.maxFindings);
  const more = findings.length - shown.length;
  return [
    `${name}, by ${look.by}:`,
    ...shown.map((finding) => describeFinding(name, finding)),
    ...(more > 0 ? [`(${more} more)`] : []),
  ].join('\n');
}
