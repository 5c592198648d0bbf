/** Merges many sparse edits and compares each result with the intended one. */
import { mergeEdit } from '../merge.ts';
import { type Kind, makeSparseEdit, type SparseEdit } from './sparse-edits.ts';
import { LANGUAGES, type Language } from './sparse-files.ts';

export interface Measured {
  readonly made: number;
  /** Edits with another result than the intended one. */
  readonly wrong: readonly SparseEdit[];
  readonly refused: number;
  readonly kinds: ReadonlyMap<Kind, { made: number; refused: number }>;
}

export function measure({
  seed,
  count,
  languages = LANGUAGES,
}: {
  readonly seed: number;
  readonly count: number;
  readonly languages?: readonly Language[];
}): Measured {
  const wrong: SparseEdit[] = [];
  const kinds = new Map<Kind, { made: number; refused: number }>();
  let [made, refused] = [0, 0];
  for (let next = seed; made < count; next++) {
    const edit = makeSparseEdit(next, languages);
    if (edit === null) continue;
    const merged = mergeEdit(edit.before, edit.edit);
    const kind = kinds.get(edit.kind) ?? { made: 0, refused: 0 };
    kinds.set(edit.kind, kind);
    made++;
    kind.made++;
    if (!merged.ok) {
      refused++;
      kind.refused++;
    } else if (merged.text !== edit.intended) wrong.push(edit);
  }
  return { made, wrong, refused, kinds };
}
