/** Reads the lists of the API to their end. */

/** Every entry of a list. A page is read once the ones before it are used up. */
export async function* entriesOf<Entry>(
  readPage: (cursor: string | undefined) => Promise<ListPage<Entry>>,
): AsyncGenerator<Entry, void, undefined> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { items, nextCursor } = await readPage(cursor);
    yield* items;
    cursor = nextCursor;
  }
}

interface ListPage<Entry> {
  readonly items: readonly Entry[];
  readonly nextCursor: string | null;
}
