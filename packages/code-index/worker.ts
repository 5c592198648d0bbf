/** The thread's own program: keeps the index of one workspace, and answers from it. */
import { parentPort } from 'node:worker_threads';
import type { IndexNews, IndexOrder, IndexWork } from './messages.ts';
import { Searchable } from './searchable.ts';
import { removeIndex } from './store.ts';

let index: { readonly searchable: Searchable; readonly path: string } | undefined;

parentPort?.on('message', async (order: IndexOrder) => {
  const { id } = order;
  const send = (news: IndexNews) => parentPort?.postMessage(news);
  try {
    const onProgress = (done: number, of: number) => send({ id, state: 'progress', done, of });
    send({ id, state: 'done', answer: await answerTo(order, onProgress) });
  } catch (error) {
    if (isOfSqlite(error)) throwAway();
    send({ id, state: 'failed', message: String(error) });
  }
});

async function answerTo(
  { task, ask }: IndexOrder,
  onProgress: (done: number, of: number) => void,
): Promise<IndexWork[keyof IndexWork]['answer']> {
  if (task === 'open') {
    const open = ask as IndexWork['open']['ask'];
    index = { searchable: Searchable.open(open), path: open.path };
    return null;
  }
  if (!index) throw new Error('the index is not open');
  if (task === 'rank') return await index.searchable.rank(ask as IndexWork['rank']['ask']);
  if (task === 'pending') return index.searchable.pending(ask as IndexWork['pending']['ask']);
  if (task === 'keep') return index.searchable.keep(ask as IndexWork['keep']['ask']);
  if (task === 'forget') {
    index.searchable.forgetVectors();
    return null;
  }
  const { names } = ask as IndexWork['update']['ask'];
  return await index.searchable.update(names === '' ? [] : names.split('\0'), onProgress);
}

/** The database is damaged, or its disk is full. */
function isOfSqlite(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

function throwAway(): void {
  if (!index) return;
  try {
    index.searchable.close();
  } catch {
    // A damaged database may fail here too. Its files go in any case.
  }
  removeIndex(index.path);
  index = undefined;
}
