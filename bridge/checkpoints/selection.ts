/** Finds the changes that an undo takes back: those that no undo has taken back already. */
import { parseResponseId, ResponseId } from '../../shared/ids.ts';
import type { UndoFields } from '../../shared/wire/undo.ts';
import type { HistoryEntry } from './history.ts';
import type { Undone } from './plan.ts';

/** `call` asks for it, in `conversation`. The same call asks again after a crash, and means the same changes. */
export interface Selection extends Pick<UndoFields, 'scope' | 'id'> {
  readonly conversation: string;
  readonly call: string;
  /** Only changes of this conversation count: it is not the owner's, and `id` may name any. */
  readonly isConfined: boolean;
}

/** By path, each list with the newest change first. `entries` are in order, the oldest first. */
export function select(
  entries: readonly HistoryEntry[],
  selection: Selection,
  root: string,
): ReadonlyMap<string, readonly Undone[]> {
  const newest = entries.filter((entry) => entry.root === root).toReversed();
  const others = newest.filter(({ call }) => call !== selection.call);
  const left = new Set(activeIn(newest).map(({ entry, path }) => keyOf(entry.id, path)));
  const byPath = new Map<string, Undone[]>();
  const calls = new Set(newest.flatMap(({ id, undoes }) => (undoes ? [] : [id])));
  for (const undone of wanted(activeIn(others), selection, calls)) {
    if (!left.has(keyOf(undone.entry.id, undone.path))) continue;
    const before = byPath.get(undone.path);
    if (before) before.push(undone);
    else byPath.set(undone.path, [undone]);
  }
  return byPath;
}

/** The changes that no entry among these has taken back. An undo that was itself taken back takes nothing back. */
function activeIn(newest: readonly HistoryEntry[]): readonly Undone[] {
  const taken = new Set<string>();
  for (const { id, undoes, changes } of newest) {
    const isTaken = changes.length > 0 && changes.every(({ path }) => taken.has(keyOf(id, path)));
    if (!isTaken) for (const each of undoes ?? []) taken.add(keyOf(each.id, each.path));
  }
  return newest.flatMap((entry) =>
    entry.changes
      .filter(({ path }) => !taken.has(keyOf(entry.id, path)))
      .map((change) => ({ entry, ...change })),
  );
}

function wanted(
  active: readonly Undone[],
  { scope, id, conversation, isConfined }: Selection,
  calls: ReadonlySet<string>,
): readonly Undone[] {
  const made = active.filter(
    ({ entry }) =>
      entry.undoes === undefined && (!isConfined || entry.conversation === conversation),
  );
  switch (scope) {
    case 'call':
      return made.filter(({ entry }) => entry.call === id);
    case 'response':
      return made.filter(({ entry }) => id !== undefined && entry.response === id);
    case 'since':
      return made.filter(({ entry }) => isSince(entry.response, id));
    case 'last': {
      const last = made.find(({ entry }) => entry.conversation === conversation);
      return made.filter(({ entry: { conversation: of, response } }) => {
        return of === conversation && response === last?.entry.response;
      });
    }
    case 'redo': {
      // An undo names changes of calls; a redo names those of an undo.
      const isUndo = ({ undoes = [] }: HistoryEntry) => undoes.some((each) => calls.has(each.id));
      const undone = active.filter(({ entry }) => isUndo(entry));
      const last = undone.find(({ entry }) => entry.conversation === conversation);
      return undone.filter(({ entry }) => entry.call === last?.entry.call);
    }
    default:
      return scope satisfies never;
  }
}

function isSince(response: string | undefined, first: string | undefined): boolean {
  const [own, from] = [response, first].map((id) => ResponseId.safeParse(id).data);
  if (own === undefined || from === undefined) return false;
  const [one, other] = [parseResponseId(own), parseResponseId(from)];
  return one.conversationId === other.conversationId && one.ordinal >= other.ordinal;
}

function keyOf(id: string, path: string): string {
  return `${id} ${path}`;
}
