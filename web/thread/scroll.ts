/** Keeps the end of the thread in sight while it grows, until the reader looks elsewhere. */
import type { RefObject } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** As far from the end as a reader may be who still follows it, in CSS pixels. */
const NEAR_PX = 40;

export interface Follows {
  readonly box: RefObject<HTMLDivElement | null>;
  /** Whether something came below what is in sight. */
  readonly hasNews: boolean;
  readonly toEnd: () => void;
  /** Runs what puts content above, and leaves what is in sight where it is. */
  readonly keepingPlace: (work: () => Promise<void>) => Promise<void>;
}

/** `box` scrolls, and its only child grows. This is the only code that scrolls it. `note` gets whether the reader follows. */
export function useFollowing(note: (isAtEnd: boolean) => void): Follows {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const follow = useCallback(
    (isAtEnd: boolean) => {
      follows.current = isAtEnd;
      note(isAtEnd);
    },
    [note],
  );
  const [hasNews, setNews] = useState(false);
  const toEnd = useCallback(() => {
    follow(true);
    setNews(false);
    const { current } = box;
    if (current) current.scrollTop = current.scrollHeight;
  }, [follow]);
  useEffect(() => {
    const { current } = box;
    const content = current?.firstElementChild;
    if (!current || !content) return;
    const isNear = () => current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_PX;
    const look = () => {
      follow(isNear());
      if (follows.current) setNews(false);
    };
    const stay = () => {
      const stays = follows.current && getSelection()?.type !== 'Range';
      if (stays) current.scrollTop = current.scrollHeight;
      return stays;
    };
    // In the task that wrote: a frame that has begun would only report the scrolling, and need another one to show it.
    const written = new MutationObserver(stay);
    const grown = new ResizeObserver(() => {
      if (!stay() && !isNear()) setNews(true);
    });
    written.observe(content, { subtree: true, childList: true, characterData: true });
    grown.observe(content);
    grown.observe(current);
    current.addEventListener('scroll', look, { passive: true });
    return () => {
      written.disconnect();
      grown.disconnect();
      current.removeEventListener('scroll', look);
    };
  }, [follow]);
  const keepingPlace = useCallback(
    async (work: () => Promise<void>) => {
      const { current } = box;
      if (!current) return await work();
      follow(false);
      const fromEnd = current.scrollHeight - current.scrollTop;
      await work();
      // The page renders with the next frame.
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          current.scrollTop = current.scrollHeight - fromEnd;
        }),
      );
    },
    [follow],
  );
  return { box, hasNews, toEnd, keepingPlace };
}
