import { useEffect } from 'preact/hooks';

/** Reads what no stream brings: now, and whenever the person comes back to the page. */
export function useReading(read: () => Promise<unknown>): void {
  useEffect(() => {
    void read();
    const left = new AbortController();
    const again = () => void (document.hidden || read());
    document.addEventListener('visibilitychange', again, left);
    return () => left.abort();
  }, [read]);
}
