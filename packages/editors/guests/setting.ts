/** The owner's setting of the companion, and how to reach the one that runs, in files of the state folder. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { LocalError } from '../../../machine/local-error.ts';
import { isLocked, type LockAttempt, takeLock } from '../../../machine/lock.ts';
import { makePrivateFolders, readIfThere, replaceFile } from '../../../machine/private-files.ts';
import { parseJson } from '../../../shared/text/json.ts';

const Setting = z.object({ enabled: z.boolean() });

/** Whether the owner has turned the companion on. @throws {LocalError} for a file that does not say so. */
export async function readEnabled(stateDir: string): Promise<boolean> {
  const setting = await readAs(Setting, settingIn(stateDir));
  return setting?.enabled ?? false;
}

/** A bridge that runs follows within two seconds. */
export function writeEnabled(stateDir: string, enabled: boolean): void {
  makePrivateFolders(stateDir);
  replaceFile(settingIn(stateDir), `${JSON.stringify({ enabled })}\n`);
}

const RunningCompanion = z.object({
  port: z.int(),
  startedAt: z.iso.datetime(),
  /** For the shell of a CLI. One of them is a key. */
  variables: z.record(z.string(), z.string()),
  /** Path and text of each. A bridge that finds them after a kill removes them. */
  discoveryFiles: z.record(z.string(), z.string()),
  /** One sentence for each discovery file that could not be written. */
  problems: z.array(z.string()),
});
export type RunningCompanion = z.infer<typeof RunningCompanion>;

/** The companion of the bridge that runs, or of one that was killed: see {@link isBridgeRunning}. */
export async function readRunning(stateDir: string): Promise<RunningCompanion | undefined> {
  return await readAs(RunningCompanion, runningIn(stateDir));
}

/** Replaces the whole file at once, and throws where the disk refuses. Only the host of the companion writes it. */
export function writeRunning(stateDir: string, running: RunningCompanion): void {
  replaceFile(runningIn(stateDir), `${JSON.stringify(running)}\n`);
}

/** Does nothing where there is none. Leaves the discovery files, though only this file names those of a killed bridge. */
export function removeRunning(stateDir: string): void {
  rmSync(runningIn(stateDir), { force: true });
}

/** Whether a bridge runs on this state. */
export function isBridgeRunning(stateDir: string): boolean {
  return isLocked(lockIn(stateDir));
}

/** Shows that a bridge runs, until the lock or its process ends. */
export function claimCompanion(stateDir: string): LockAttempt {
  return takeLock(lockIn(stateDir));
}

async function readAs<Value>(schema: z.ZodType<Value>, file: string): Promise<Value | undefined> {
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return schema.parse(parseJson(text));
  } catch (cause) {
    throw new LocalError('failed', `${file} is damaged: remove it.`, { cause });
  }
}

function settingIn(stateDir: string): string {
  return join(stateDir, 'companion.json');
}

function runningIn(stateDir: string): string {
  return join(stateDir, 'companion-running.json');
}

function lockIn(stateDir: string): string {
  return join(stateDir, 'companion.lock');
}
