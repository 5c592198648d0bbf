/** A command exchanges two folders between two steps of a look, and exchanges them back before the next look. */
import type * as fs from 'node:fs';
import { lstatSync, mkdirSync, readlinkSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../../test/bridge/tools/temporary-workspace.ts';
import { freshModules } from '../../../../test/fresh-modules.ts';

/** Runs before a step that is about the path; what it returns runs after the step. */
type Meanwhile = (step: string, path: string) => (() => void) | undefined;

const hook = vi.hoisted(() => ({ meanwhile: undefined as Meanwhile | undefined }));

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof fs>();
  const during = (name: 'readdirSync' | 'lstatSync') => {
    const step = real[name] as (...args: unknown[]) => unknown;
    return (path: unknown, ...others: unknown[]) => {
      const back = hook.meanwhile?.(name, String(path));
      try {
        return step(path, ...others);
      } finally {
        back?.();
      }
    };
  };
  return { ...real, readdirSync: during('readdirSync'), lstatSync: during('lstatSync') };
});

freshModules();
const { fromText } = await import('../../../../machine/byte-path.ts');
const { identityOf, WorkspaceScan } = await import('../../closed/scan.ts');

/** So much later every folder counts as unchanged for long. */
const HOUR = 3_600_000;
const LIMIT_MS = 10_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR }));
afterEach(() => {
  hook.meanwhile = undefined;
  vi.useRealTimers();
});

test.each([
  ['the folder is read', 'readdirSync', 'theirs/a'],
  ['what is closed in it is looked at', 'lstatSync', 'theirs/a/.git'],
])('a later look finds what is there where folders were exchanged while %s', async (...at) => {
  const [, step, name] = at;
  const root = await temporaryFolder();
  const path = (name: string) => join(root, name);
  for (const folder of ['theirs/a/.git', 'own/a/.git', 'own/a/sub']) {
    mkdirSync(path(folder), { recursive: true });
  }
  if (step === 'readdirSync') renameSync(path('own/a/.git'), path('own/a/plain'));
  const exchange = (one: string, other: string) => {
    renameSync(path(one), path('third'));
    renameSync(path(other), path(one));
    renameSync(path('third'), path(other));
  };
  const scan = new WorkspaceScan(fromText(root));
  let exchanges = 0;
  hook.meanwhile = (taken, taking) => {
    if (taken !== step || exchanges > 0 || placeOf(taking) !== path(name)) return undefined;
    exchanges++;
    exchange('theirs', 'own');
    return () => exchange('theirs', 'own');
  };
  await scan.look(LIMIT_MS);
  hook.meanwhile = undefined;
  expect(exchanges).toBe(1);
  const { entries } = await scan.look(LIMIT_MS);
  const theirs = entries.find((entry) => entry.path === fromText(path('theirs/a/.git')));
  expect(theirs?.identity).toBe(identityOf(lstatSync(path('theirs/a/.git'))));
});

/** The folder that a path of a held folder stands for. */
function placeOf(path: string): string {
  return path.startsWith('/proc/self/fd/') ? readlinkSync(path) : path;
}
