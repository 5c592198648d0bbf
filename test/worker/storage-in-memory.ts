/** Keeps the runtimes' storage in memory where there is a folder for that: a tenth of the tests' processor time. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import { memoryFolder } from '../in-memory.ts';

export function setup(): (() => void) | undefined {
  const memory = memoryFolder();
  if (memory === undefined) return;
  const folder = mkdtempSync(`${memory}/drawbridge-tests-`);
  const { tmpdir } = os;
  // Miniflare has no option for its folder. The variable TMPDIR would reach the other projects' processes.
  Object.assign(os, { tmpdir: () => folder });
  return () => {
    Object.assign(os, { tmpdir });
    rmSync(folder, { recursive: true, force: true });
  };
}
