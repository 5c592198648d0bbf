/** Adds rules to the file of a machine's owner. Its form is checked where it is read: bridge/admission/rules.ts. */
import { join } from 'node:path';
import type { Lasting } from '../shared/shown/proposal.ts';
import { isObject, parseJson } from '../shared/text/json.ts';
import { LocalError } from './local-error.ts';
import { readIfThere, replaceFile } from './private-files.ts';

/**
 * Lets a tool of a server, or the pages of a site, pass without a question from now on. `stateDir` is the folder of the
 * bridge's state. Only for a person at this machine. @throws {LocalError} for a file that is no list of rules.
 */
export async function allowAlways(stateDir: string, lasting: Lasting): Promise<void> {
  const path = join(stateDir, 'policy.json');
  const file = parseFile((await readIfThere(path)) ?? '{}', path);
  const rules = [...(file.rules ?? []), ruleFor(lasting)];
  replaceFile(path, `${JSON.stringify({ ...file, rules }, undefined, 2)}\n`);
}

/** The rule for a tool holds for one definition of it, that for a site with and without TLS. */
function ruleFor(lasting: Lasting) {
  if ('site' in lasting) {
    return { tool: 'web', pattern: `*://${lasting.site}/*`, decision: 'allow' };
  }
  const { server, tool, definition } = lasting;
  return { tool: `mcp:${server}`, pattern: `${server}/${tool}`, decision: 'allow', definition };
}

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
