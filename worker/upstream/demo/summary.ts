/** What a project is, told from its listing, its readme and its manifest. */
import { parseJson } from '../../../shared/json.ts';
import { DEMO_LIMITS } from '../../../shared/limits.ts';
import type { Result } from './history.ts';
import { code, quoteFile, quoteLines } from './quote.ts';
import { numberedLines, readListing } from './results.ts';

export interface ReadFile {
  readonly path: string;
  readonly result: Result;
}

/** Says only what stands in the results, and quotes where it stands. */
export function describeProject(listing: Result, files: readonly ReadFile[]): string {
  const { lines, note } = readListing(listing.text);
  if (lines.length === 0) return `There is nothing to see here: ${note || 'no entries'}`;
  const entries = quoteLines(lines, DEMO_LIMITS.maxQuotedEntries);
  const told = files.map(describeFile);
  const nothing =
    files.length === 0 ? ['There is no readme and no manifest that would say more.'] : [];
  return [`At the top of the workspace there is:\n\n${entries}`, ...told, ...nothing].join('\n\n');
}

function describeFile({ path, result }: ReadFile): string {
  const lines = numberedLines(result.text);
  if (result.failed || lines.length === 0) return `${code(path)} could not be read.`;
  const quoted = quoteFile(path, lines, DEMO_LIMITS.maxQuotedLines);
  const manifest = describeManifest(path, lines.map(({ text }) => text).join('\n'));
  return `${code(path)} ${manifest ?? 'begins:'}\n\n${quoted}`;
}

/** A package.json in a sentence; undefined for other manifests, and for one that was cut or is damaged. */
function describeManifest(path: string, text: string): string | undefined {
  if (!path.endsWith('package.json')) return undefined;
  try {
    const { name, scripts } = Object(parseJson(text));
    const scriptNames = Object.keys(Object(scripts)).map((script) => code(script));
    const title = typeof name === 'string' ? `names it ${code(name)}` : 'gives it no name';
    return `${title}, with ${scriptNames.length === 0 ? 'no scripts' : `the scripts ${scriptNames.join(', ')}`}:`;
  } catch {
    // Not the whole file, or not JSON: its first lines speak for themselves.
    return undefined;
  }
}
