/** Checks what an edit would write, before it is written. An edit with new errors goes back to the model. */
import { sha256 } from '../../machine/hash.ts';
import type { FileEditMetadata } from '../../shared/wire/documents.ts';
import { ToolFailure } from '../failure.ts';
import { type Finding, isAboutAnotherFile, newErrors } from './findings.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';
import type { LanguageServers } from './servers.ts';

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
    const { conversationId, path, before, after } = edit;
    const key = sha256([conversationId, path, before ?? '', after].join('\0'));
    const known = this.#passed.get(key);
    if (known !== undefined) return known;
    const file = { path, texts: [before, after] as const };
    const look = await this.#servers.look(file, DIAGNOSTICS_LIMITS.maxHoldMs, signal);
    if (look === null) return NOTHING;
    if (look.state === 'not_checked') {
      return this.#pass(key, { metadata: { not_checked: look.reason }, note: '' });
    }
    const [old = [], now = []] = look.found;
    const fresh = newErrors({ text: before ?? '', findings: old }, { text: after, findings: now });
    const check = describeCheck(edit, look.by, fresh);
    const place = `${conversationId}\0${path}`;
    const refusals = this.#refusals.get(place) ?? 0;
    const isGood = fresh.length === 0 || now.some(isAboutAnotherFile);
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

const NOTHING: EditCheck = { metadata: {}, note: '' };

function describeCheck({ name }: ProposedText, by: string, fresh: readonly Finding[]): EditCheck {
  if (fresh.length === 0) {
    return { metadata: { checked_by: by }, note: `Checked by ${by}: no new errors.` };
  }
  const shown = fresh.slice(0, DIAGNOSTICS_LIMITS.maxNewErrors);
  const more = fresh.length - shown.length;
  const lines = shown.map((finding) => describeFinding(name, finding));
  const head = `New errors, found by ${by} in the file with this edit:`;
  return {
    metadata: {
      checked_by: by,
      linter_errors: shown.map(({ line, column, message, code }) => ({
        ...{ line, column, message },
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
