/** Checks what an edit would write, before it is written. An edit with new errors goes back to the model. */

import { ToolFailure } from '../../machine/failure.ts';
import { sha256 } from '../../machine/hash.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import type { FileEditMetadata } from '../../shared/wire/documents.ts';
import { decode } from '../edits/text.ts';
import type { EditShape } from '../host/index.ts';
import type { Workspace } from '../workspace/index.ts';
import { type Finding, isAboutAnotherFile, newErrors } from './findings.ts';
import { importersOf } from './importers.ts';
import type { CheckedFile, LookedImporter } from './language-server.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';
import type { LanguageServers } from './servers.ts';
import { readText } from './texts.ts';

/** A file with the text that an edit would give it. */
export interface ProposedText {
  readonly conversationId: string;
  /** Absolute and resolved. */
  readonly path: string;
  /** As the model sees it. */
  readonly name: string;
  /** Null where the file does not exist yet. */
  readonly before: string | null;
  readonly after: string;
  /** The part of the workspace that the call may reach. */
  readonly workspace: Workspace;
}

/** What the check adds to the edit's result. */
export interface EditCheck {
  readonly metadata: Pick<FileEditMetadata, 'checked_by' | 'not_checked' | 'linter_errors'>;
  /** For the model; empty where there is nothing to say. */
  readonly note: string;
}

export class EditChecks {
  readonly #servers: LanguageServers;
  /**
   * The checks of edits that may be made, by what they would write. Such an edit is never refused later: a person may
   * have allowed it. The one unused for longest comes first.
   */
  readonly #passed = new Map<string, EditCheck>();
  /** How many edits in a row were refused, by conversation and file. */
  readonly #refusals = new Map<string, number>();

  constructor(servers: LanguageServers) {
    this.#servers = servers;
  }

  /**
   * Throws a {@link ToolFailure} (`NEW_ERRORS`) for an edit that adds errors. The same edit once more passes, and so does
   * the edit after two that were refused: a change of several files passes through errors. Rejects when the signal
   * aborts.
   */
  async check(edit: ProposedText, signal: AbortSignal): Promise<EditCheck> {
    const { conversationId, path, name, before, after, workspace } = edit;
    const key = sha256([conversationId, path, before ?? '', after].join('\0'));
    const known = this.#passed.get(key);
    if (known !== undefined) return known;
    const file = { path, kept: before, proposed: after };
    const { maxHoldMs } = DIAGNOSTICS_LIMITS;
    const look = await this.#servers.look(file, maxHoldMs, signal, (within) =>
      readImporters(path, workspace, within),
    );
    if (look === null) return NOTHING;
    if (look.state === 'not_checked') {
      return this.#pass(key, { metadata: { not_checked: look.reason }, note: '' });
    }
    const { findings } = look;
    const fresh = newErrors(
      { text: before ?? '', findings: look.before },
      { text: after, findings },
    );
    const others = look.importers.flatMap((importer) => newErrorsIn(importer, workspace));
    const check = describeCheck(look.by, [
      ...fresh.map((finding) => ({ name, finding })),
      ...others,
    ]);
    const place = `${conversationId}\0${path}`;
    const refusals = this.#refusals.get(place) ?? 0;
    const isGood = fresh.length === 0 || findings.some(isAboutAnotherFile);
    this.#pass(key, check);
    if (isGood || refusals >= DIAGNOSTICS_LIMITS.maxRefusals) {
      this.#refusals.delete(place);
      return check;
    }
    keep(this.#refusals, place, refusals + 1);
    throw refused(edit, check);
  }

  #pass(key: string, check: EditCheck): EditCheck {
    keep(this.#passed, key, check);
    return check;
  }
}

/** An edit that would write no text in UTF-8, or replace none, passes unchecked. Throws as {@link EditChecks.check} does. */
export function checkingShape(checks: EditChecks): EditShape {
  return async (shaped, { place, before }, { conversationId, signal, workspace }) => {
    const { bytes } = shaped.edited;
    if (bytes === null) return shaped;
    const [old, fresh] = [before && decode(before.bytes), decode(bytes)];
    if (fresh.kind !== 'utf8' || (old !== null && old.kind !== 'utf8')) return shaped;
    const texts = { before: old?.text ?? null, after: fresh.text };
    const edit = { conversationId, path: place.path, name: nameInLine(place.name), ...texts };
    const { note, metadata } = await checks.check({ ...edit, workspace }, signal);
    const notes = note === '' ? shaped.notes : [...shaped.notes, note];
    return { ...shaped, notes, metadata: { ...shaped.metadata, ...metadata } };
  };
}

const NOTHING: EditCheck = { metadata: {}, note: '' };

/** An error that an edit adds. */
interface NewError {
  /** Of the file, as the model sees it. */
  readonly name: string;
  /** For the document; absent for the edited file. */
  readonly path?: string;
  readonly finding: Finding;
}

/** Only for the report: the next edit may be the one that adapts this file. */
function newErrorsIn(
  { path, text, before, after }: LookedImporter,
  workspace: Workspace,
): NewError[] {
  const name = workspace.nameOf(path);
  const fresh = newErrors({ text, findings: before }, { text, findings: after });
  return fresh.map((finding) => ({ name: nameInLine(name), path: name, finding }));
}

/** Those that the call may read. A file that cannot be read is left out. */
async function readImporters(
  path: string,
  workspace: Workspace,
  signal: AbortSignal,
): Promise<readonly CheckedFile[]> {
  const files: CheckedFile[] = [];
  for (const found of await importersOf(path, workspace.root, signal)) {
    const text = workspace.mayShow(found) ? await readText(found, workspace, signal) : null;
    if (text !== null) files.push({ path: found, text });
  }
  return files;
}

function describeCheck(by: string, errors: readonly NewError[]): EditCheck {
  if (errors.length === 0) {
    return { metadata: { checked_by: by }, note: `Checked by ${by}: no new errors.` };
  }
  const shown = errors.slice(0, DIAGNOSTICS_LIMITS.maxNewErrors);
  const more = errors.length - shown.length;
  const lines = shown.map(({ name, finding }) => describeFinding(name, finding));
  const head = `New errors with this edit, found by ${by}:`;
  return {
    metadata: {
      checked_by: by,
      linter_errors: shown.map(({ path, finding: { line, column, message, code } }) => ({
        ...(path !== undefined && { path }),
        line,
        column,
        message,
        ...(code !== '' && { source: code }),
      })),
    },
    note: [head, ...lines, ...(more > 0 ? [`(${more} more)`] : [])].join('\n'),
  };
}

/** One line. */
export function describeFinding(
  name: string,
  { line, column, severity, message, code }: Finding,
): string {
  const kind = severity === 'error' ? '' : `${severity}: `;
  return `${name}:${line}:${column}: ${kind}${message}${code === '' ? '' : ` (${code})`}`;
}

function refused({ name }: ProposedText, { metadata, note }: EditCheck): ToolFailure {
  return new ToolFailure(
    'NEW_ERRORS',
    `${name} was not changed, because the edit would add errors. Correct the edit. If the errors are meant, for example ` +
      `because the next edit repairs them, send the same edit again: then it is made.\n${note}`,
    { metadata },
  );
}

/** Puts an entry at the end, and lets the oldest one go. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > DIAGNOSTICS_LIMITS.maxRemembered) map.delete(oldest);
}
