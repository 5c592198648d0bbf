import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../client/clock.ts';
import { SECOND } from '../../shared/units.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('a wait in a web page', () => {
  it.each([
    { event: 'visibilitychange', state: 'visible', ends: true },
    { event: 'visibilitychange', state: 'hidden', ends: false },
    { event: 'online', state: 'visible', ends: true },
    { event: 'pageshow', state: 'visible', ends: true },
  ])(
    'ends with $event ($state) once enough of it is over: $ends',
    async ({ event, state, ends }) => {
      const page = newPage(state);
      const ended = vi.fn();
      const waiting = systemClock.sleep(35 * SECOND, new AbortController().signal, 20 * SECOND);
      waiting.then(ended);
      vi.setSystemTime(Date.now() + 19 * SECOND);
      page.dispatch(event);
      await Promise.resolve();
      expect(ended).not.toHaveBeenCalled();
      vi.setSystemTime(Date.now() + SECOND);
      page.dispatch(event);
      await Promise.resolve();
      expect(ended).toHaveBeenCalledTimes(ends ? 1 : 0);
      await vi.advanceTimersByTimeAsync(35 * SECOND);
      expect(ended).toHaveBeenCalledTimes(1);
      expect(page.listeners()).toBe(0);
    },
  );

  it('leaves no listener at its signal', async () => {
    const page = newPage('visible');
    const leaving = new AbortController();
    const waiting = systemClock.sleep(SECOND, leaving.signal, 0);
    expect(page.listeners()).toBeGreaterThan(0);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    expect(page.listeners()).toBe(0);
  });
});

/** The globals of a page, as far as the clock knows them. */
function newPage(visibilityState: string) {
  const window = countedTarget();
  const document = Object.assign(countedTarget(), { visibilityState });
  vi.stubGlobal('document', document);
  vi.stubGlobal('addEventListener', window.addEventListener.bind(window));
  vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window));
  return {
    dispatch(name: string) {
      (name === 'visibilitychange' ? document : window).dispatchEvent(new Event(name));
    },
    listeners: () => window.count + document.count,
  };
}

function countedTarget() {
  class Counted extends EventTarget {
    count = 0;
    override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
      this.count += 1;
      super.addEventListener(...args);
    }
    override removeEventListener(...args: Parameters<EventTarget['removeEventListener']>): void {
      this.count -= 1;
      super.removeEventListener(...args);
    }
  }
  return new Counted();
}
