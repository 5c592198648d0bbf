/** Changes the files of rules of a machine's owner. Their form is checked where they are read: bridge/admission/rules.ts. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lasting } from '../shared/shown/proposal.ts';
import { isObject, parseJson } from '../shared/text/json.ts';
import { LocalError } from './local-error.ts';
import { type LockAttempt, takeLock } from './lock.ts';
import { readIfThere, replaceFile } from './private-files.ts';

/**
 * Lets a tool of a server, or the pages of a site, pass without a question from now on. `stateDir` is the folder of the
 * bridge's state. Only for a person at this machine. @throws {LocalError} for a file that is no list of rules.
 */
export async function allowAlways(stateDir: string, lasting: Lasting): Promise<void> {
  await changeRules(join(stateDir, 'policy.json'), (rules) => [...rules, ruleFor(lasting)]);
}

/** The rule for a tool holds for one definition of it, that for a site with and without TLS. */
function ruleFor(lasting: Lasting) {
  if ('site' in lasting) {
    return { tool: 'web', pattern: `*://${lasting.site}/*`, decision: 'allow' };
  }
  const { server, tool, definition } = lasting;
  return { tool: `mcp:${server}`, pattern: `${server}/${tool}`, decision: 'allow', definition };
}

/**
 * Replaces the list of rules in the file. Two processes change it one after the other. The file's folder must exist.
 * @throws {LocalError} for a file that is no list of rules, which stays as it is.
 */
export async function changeRules(
  path: string,
  change: (rules: readonly unknown[]) => readonly unknown[],
): Promise<void> {
  using _ = await lockOf(path);
  const file = parseFile((await readIfThere(path)) ?? '{}', path);
  const rules = change(file.rules ?? []);
  replaceFile(path, `${JSON.stringify({ ...file, rules }, undefined, 2)}\n`);
}

async function lockOf(path: string): Promise<Disposable> {
  for (let attempt = 1; ; attempt++) {
    const lock: LockAttempt = takeLock(`${path}.lock`);
    if (lock.isTaken) return lock;
    if (attempt === LOCK_ATTEMPTS) {
      throw new LocalError('refused', `Another program changes ${path}: try again.`);
    }
    await sleep(LOCK_PAUSE_MS);
  }
}

/** Two seconds: a change takes milliseconds. */
const LOCK_ATTEMPTS = 100;
const LOCK_PAUSE_MS = 20;

function parseFile(text: string, path: string): { readonly rules?: readonly unknown[] } {
  const refusal = `${path} is no file of rules: repair it by hand.`;
  let file: unknown;
  try {
    file = parseJson(text);
  } catch (cause) {
    throw new LocalError('refused', refusal, { cause });
  }
  if (isObject(file) && (!('rules' in file) || Array.isArray(file['rules']))) return file;
  throw new LocalError('refused', refusal);
}
