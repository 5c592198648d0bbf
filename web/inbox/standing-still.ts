import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** A click that was meant for what stood there before comes within this time. */
const STILL_MS = 700;
const LOOK_MS = 100;

/** Whether the element has stood in its place for a while: one that has just come, or moved, takes no click yet. */
export function useStandingStill(element: RefObject<HTMLElement | null>): boolean {
  const [isStill, setStill] = useState(false);
  useEffect(() => {
    let place = Number.NaN;
    let sinceMs = performance.now();
    const look = () => {
      const now = element.current?.getBoundingClientRect().bottom ?? Number.NaN;
      if (now !== place) sinceMs = performance.now();
      place = now;
      setStill(performance.now() - sinceMs >= STILL_MS);
    };
    const looking = setInterval(look, LOOK_MS);
    return () => clearInterval(looking);
  }, [element]);
  return isStill;
}
