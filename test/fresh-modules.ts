import { afterAll, vi } from 'vitest';

/**
 * For a file that replaces modules by `vi.mock`: the files of a worker share what they have loaded. Call it at the top,
 * and import after it, by `await import(…)`, what uses the replaced modules: an earlier file may have loaded it with the
 * real ones. What was loaded with the replaced ones goes with the file.
 */
export function freshModules(): void {
  vi.resetModules();
  afterAll(() => void vi.resetModules());
}
