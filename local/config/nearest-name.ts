/** Guesses which name a person meant who has mistyped it. */

/** Of longer words only this much is compared: no name of ours is as long. */
const COMPARED_CHARS = 40;

/** The name that differs least, if at most a third of its letters (but at least one) differ; case does not count. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(plainName(typed), plainName(name)) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, best.name.length / 3) ? best.name : undefined;
}

/** A name's letters and digits, without case. */
export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, COMPARED_CHARS);
}

/** How many letters must be added, removed, changed or exchanged with their neighbour (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return at(a.length, b.length);
}
