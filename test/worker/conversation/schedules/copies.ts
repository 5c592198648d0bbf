/** The copies of all schedules: each is made in two pages, and where its plan says so it meets a crash between them. */
import { vi } from 'vitest';
import { Conversation } from '../../../../worker/conversation/object.ts';
import { type Scripted, tick } from './model.ts';
import type { CopyPoint } from './points.ts';

/** A copy that is to meet a crash, once. */
export interface DoomedCopy {
  readonly scripted: Scripted;
  readonly point: CopyPoint;
}

/** Watches over the copies of these conversations; one that has met its crash is taken out. */
export function watchCopies(doomed: Map<string, DoomedCopy>): void {
  const { forkPage } = Conversation.prototype;
  vi.spyOn(Conversation.prototype, 'forkPage').mockImplementation(async function (
    this: Conversation,
    caller,
    point,
    start,
  ) {
    const page = await forkPage.call(this, caller, point, start);
    if (!page.ok) return page;
    if (start.table === 0) {
      const rows = page.value.rows.filter(({ table }) => table === 'tape');
      return { ok: true, value: { ...page.value, rows, next: { table: 1, offset: 0 } } };
    }
    const copy = doomed.get(caller.conversationId);
    doomed.delete(caller.conversationId); // Before it, since after it there may be no one to do so.
    if (copy) await die(copy);
    return page;
  });
}

/** Goes on when the crash is on its way, where it is not this object that dies. */
async function die({ scripted, point }: DoomedCopy): Promise<void> {
  scripted.wishes.push(point);
  while (scripted.wishes.includes(point) && !scripted.isOver) await tick();
  for (let waits = 0; waits < 5; waits++) await tick();
}
