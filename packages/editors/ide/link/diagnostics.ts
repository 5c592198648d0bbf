/** The editor's errors for the model: those of the files that person and agent work on. */
import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { FINDING_LIMITS, REQUEST_LIMITS } from '../../../../shared/limits.ts';
import { shorten } from '../../../../shared/text/plain-sight.ts';
import type { Diagnostics } from '../../../../shared/wire/findings.ts';
import type { Workspace } from '../../../workspace/index.ts';
import { withOneActive } from './context.ts';
import { LINK_LIMITS } from './limits.ts';
import type { EditorLink } from './link.ts';
import type { EditorDiagnostic } from './wire.ts';

export interface Diagnosing {
  /** Files that the conversation has used, by their resolved paths, the latest first. */
  readonly used: readonly string[];
  /** The workspace without what the model could not read without a question. */
  readonly readable: Workspace;
  readonly signal: AbortSignal;
}

/** Undefined where no editor answers in time. Never rejects. */
export async function editorDiagnostics(
  link: Pick<EditorLink, 'view' | 'canDiagnose' | 'diagnose'>,
  { used, readable, signal }: Diagnosing,
): Promise<Diagnostics | undefined> {
  if (!link.canDiagnose) return undefined;
  const open = withOneActive(link.view?.openFiles ?? []).map(({ path }) => path);
  const names = await namesOf([...open, ...used], readable);
  const found = await link.diagnose([...names.keys()], signal);
  if (found === undefined) return undefined;
  const all = ['error', 'warning'].flatMap((severity) =>
    found.filter((one) => one.severity === severity),
  );
  const items = all.slice(0, FINDING_LIMITS.maxDiagnostics).map((one) => toItem(one, names));
  return { items, leftOut: all.length - items.length };
}

/** The first readable files by their paths, each file once, with its name in the workspace. */
async function namesOf(
  paths: readonly string[],
  readable: Workspace,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  const known = new Set<string>();
  for (const path of paths) {
    if (names.size >= LINK_LIMITS.maxDiagnosedFiles) break;
    const name = await nameOf(path, readable);
    if (name === undefined || known.has(name)) continue;
    known.add(name);
    names.set(path, name);
  }
  return names;
}

async function nameOf(path: string, readable: Workspace): Promise<string | undefined> {
  const real = isAbsolute(path) ? await realpath(path).catch(() => undefined) : undefined;
  if (real === undefined) return undefined;
  const name = readable.nameOf(real);
  const isOutside = name === '..' || name.startsWith('../') || isAbsolute(name);
  const isNamed = !isOutside && name.length <= REQUEST_LIMITS.maxPathChars;
  return isNamed && readable.mayShow(real) ? name : undefined;
}

function toItem(
  { path, line, column, severity, message, source }: EditorDiagnostic,
  names: ReadonlyMap<string, string>,
): Diagnostics['items'][number] {
  return {
    path: names.get(path) ?? path,
    line,
    column,
    severity,
    message: shorten(message, FINDING_LIMITS.maxDiagnosticChars),
    ...(source !== undefined && { source: shorten(source, REQUEST_LIMITS.maxNameChars) }),
  };
}
