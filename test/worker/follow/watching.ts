/** What the tests of readers look at: the object's sockets and the adapters' timers. */
import { runInDurableObject } from 'cloudflare:test';
import { vi } from 'vitest';
import { RUN_LIMITS } from '../../../shared/limits.ts';
import { FOLLOW_LIMITS } from '../../../worker/follow/limits.ts';
import { conversationObject } from '../conversation/conversing.ts';

/** For conditions that must come by themselves: at a heartbeat, every reader that is gone is noticed. */
export const BEFORE_HEARTBEAT = FOLLOW_LIMITS.heartbeatMs - 1_000;

export async function followersOf(conversationId: string): Promise<number> {
  const stub = conversationObject(conversationId);
  return await runInDurableObject(stub, (_, state) => state.getWebSockets('follower').length);
}

/** Closes the object's end of all its followers' sockets, as a deploy does. */
export async function dropFollowers(conversationId: string): Promise<void> {
  await runInDurableObject(conversationObject(conversationId), (_, state) => {
    for (const socket of state.getWebSockets('follower')) socket.close(1012, 'restart');
  });
}

/**
 * Timers of these lengths run in another time; faked ones would run in the test's context, where the runtime lets no one
 * write to what the Worker holds. Counts those of them that were set, and neither cleared nor, where they run once, run.
 */
export function quicken(ms: Readonly<Record<number, number>>): { readonly count: number } {
  const open = new Set<unknown>();
  for (const name of ['setInterval', 'setTimeout'] as const) {
    const original = globalThis[name] as (run: () => void, ms?: number) => unknown;
    const replaced = (run: () => void, asked = 0) => {
      const quick = ms[asked];
      if (quick === undefined) return original(run, asked);
      const timer = original(() => {
        if (name === 'setTimeout') open.delete(timer);
        run();
      }, quick);
      open.add(timer);
      return timer;
    };
    vi.spyOn(globalThis, name).mockImplementation(replaced as never);
  }
  for (const name of ['clearInterval', 'clearTimeout'] as const) {
    const original = globalThis[name] as (timer: unknown) => void;
    const replaced = (timer: unknown) => {
      open.delete(timer);
      original(timer);
    };
    vi.spyOn(globalThis, name).mockImplementation(replaced as never);
  }
  return {
    get count() {
      return open.size;
    },
  };
}

/** The Worker waits seconds for a bridge to refuse an answer. With these, a bridge that stays silent costs no time. */
export const QUICK_REFUSALS = {
  [RUN_LIMITS.refusalPollMs]: 1,
  [RUN_LIMITS.maxRefusalPollMs]: 1,
};
