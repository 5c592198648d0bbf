/** Looks at the process that reads documents, from outside. */
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { expect, onTestFinished, vi } from 'vitest';
import { DocumentProcess } from '../../../machine/compute/document-process.ts';
import { descendants } from '../../../packages/sandbox/launch/freeze.ts';
import { MIB } from '../../../shared/units.ts';
import { pdfOf } from './pdf.ts';

/** That of a call that is not cancelled. */
export const NEVER = new AbortController().signal;
/** Of a stream that is packed. */
export const flat = '/Filter /FlateDecode';

/** What a tool asks of a document. */
export function view(bytes: Uint8Array, name = 'a.pdf') {
  return { name, bytes, offset: 1, limit: undefined };
}

/** A PDF of 0.5 MB that takes 100 MB a page, and seconds. */
export function bomb(): Uint8Array {
  const stream = deflateSync(Buffer.alloc(100 * MIB, 'a '), { level: 9 });
  return pdfOf(Array.from({ length: 5 }, () => ({ filter: flat, stream })));
}

/** With a reader that ends with the test. */
export function started(): DocumentProcess {
  const documents = new DocumentProcess({ maxMs: 60_000, idleMs: 60_000 });
  onTestFinished(endReaders);
  return documents;
}

/** The readers that this process, or `root`, has started. */
export function readersOf(root?: number): number[] {
  return descendants(root).flatMap(({ pid }) =>
    textOf(pid, 'cmdline').includes('--allow-fs-read=') ? [pid] : [],
  );
}

/** Ends the readers that this process has started, and waits until they are gone. */
export async function endReaders(): Promise<void> {
  for (const pid of readersOf()) process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(readersOf()).toEqual([]));
}

/** A file of `/proc` about a process; empty once that has gone. */
export function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Megabytes that a work takes at most: what this process has more than before, and all that its reader has. */
export async function memoryOf<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly mb: number }> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let most = 0;
  const look = () => {
    const own = Math.max(0, process.memoryUsage.rss() - before) / MIB;
    const read = readersOf().map((pid) => /^VmHWM:\s*(\d+)/m.exec(textOf(pid, 'status'))?.[1]);
    most = Math.max(most, own + Math.max(0, ...read.map(Number).filter(Number.isFinite)) / 1_024);
  };
  const watch = setInterval(look, 10);
  try {
    const result = await work();
    return { result, mb: most };
  } finally {
    clearInterval(watch);
  }
}
