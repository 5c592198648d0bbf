/** Reads the text of rule files and of the files that they include, and keeps it while the files stay the same. */
import { ToolFailure } from '../../machine/failure.ts';
import { readPart, readStamp, type Workspace } from '../../packages/workspace/index.ts';
import { RULE_READ_LIMITS } from './limits.ts';

/** What stands at the path of a file. */
export type FoundText =
  | { readonly state: 'none' }
  /** `path` is the real path, by which two names of one file are recognised. */
  | { readonly state: 'text'; readonly text: string; readonly path: string }
  /** `reason` completes the sentence "It is left out: ...". */
  | { readonly state: 'unusable'; readonly reason: string };

interface KeptText {
  readonly stamp: string;
  readonly found: FoundText;
}

/** Texts by the real paths of their files. {@link RuleTexts.endLook} forgets the files that a look did not need. */
export class RuleTexts {
  #kept = new Map<string, KeptText>();
  #used = new Map<string, KeptText>();

  /** Only regular files inside the workspace that `workspace` shows. Never waits for a pipe. */
  async read(workspace: Workspace, name: string): Promise<FoundText> {
    try {
      const place = await workspace.resolve(name, 'read');
      const stamp = await readStamp(place);
      const kept = this.#used.get(place.path) ?? this.#kept.get(place.path);
      const isSame = kept?.stamp === stamp;
      const found = isSame ? kept.found : await readText(place);
      this.#used.set(place.path, { stamp, found });
      return found;
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      if (MISSING.has(error.code)) return { state: 'none' };
      return { state: 'unusable', reason: REASONS[error.code] ?? 'it cannot be read' };
    }
  }

  endLook(): void {
    this.#kept = this.#used;
    this.#used = new Map();
  }
}

const MISSING: ReadonlySet<string> = new Set(['FILE_NOT_FOUND', 'NOT_A_FOLDER']);

const REASONS: Readonly<Record<string, string>> = {
  OUTSIDE_WORKSPACE: 'it leads outside the workspace',
  NOT_A_FILE: 'it is no regular file',
  SECRET_PATH: 'it may hold secrets, or an ignore file closes it',
  DENIED: "the machine's policy does not let it be read",
  NOT_PERMITTED: "the bridge's user may not open it",
  INVALID_PATH: 'its path is no path of a file',
};

async function readText(place: Parameters<typeof readPart>[0]): Promise<FoundText> {
  const { maxFileBytes } = RULE_READ_LIMITS;
  const bytes = await readPart(place, { offset: 0, length: maxFileBytes + 1 });
  if (bytes.length > maxFileBytes) {
    return { state: 'unusable', reason: `it is larger than ${maxFileBytes / 1024} KiB` };
  }
  if (bytes.includes(0)) return { state: 'unusable', reason: 'it is no text' };
  return { state: 'text', text: new TextDecoder().decode(bytes), path: place.path };
}
