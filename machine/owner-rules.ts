/** Adds rules to the file of a machine's owner. Its form is checked where it is read: bridge/admission/rules.ts. */
import { join } from 'node:path';
import { isObject, parseJson } from '../shared/text/json.ts';
import { LocalError } from './local-error.ts';
import { readIfThere, replaceFile } from './private-files.ts';

/** A tool of a server as a question names it. */
export interface AskedOffer {
  readonly server: string;
  readonly tool: string;
  /** The digest of its definition. The rule holds for no other. */
  readonly definition: string;
}

/**
 * Lets the tool run without a question from now on. `stateDir` is the folder of the bridge's state. Only for a person at
 * this machine. @throws {LocalError} for a file that is no list of rules.
 */
export async function allowAlways(
  stateDir: string,
  { server, tool, definition }: AskedOffer,
): Promise<void> {
  const path = join(stateDir, 'policy.json');
  const file = parseFile((await readIfThere(path)) ?? '{}', path);
  const rule = {
    tool: `mcp:${server}`,
    pattern: `${server}/${tool}`,
    decision: 'allow',
    definition,
  };
  const rules = [...(file.rules ?? []), rule];
  replaceFile(path, `${JSON.stringify({ ...file, rules }, undefined, 2)}\n`);
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
