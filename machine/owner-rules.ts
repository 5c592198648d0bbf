/** Changes the files of rules of a machine's owner. Their form is checked where they are read: bridge/admission/rules.ts. */
import { isObject, parseJson } from '../shared/text/json.ts';
import { canonicalJson } from '../shared/wire/approval-text.ts';
import { LocalError } from './local-error.ts';
import { takeTurn } from './lock.ts';
import { readIfThere, replaceFile } from './private-files.ts';

/** Puts rules of a person's answer behind the others, once. @throws {LocalError} as {@link changeRules}. */
export async function addRules(path: string, made: readonly object[]): Promise<void> {
  const added = new Set(made.map(withoutTime));
  await changeRules(path, (rules) => [
    ...rules.filter((rule) => !added.has(withoutTime(rule))),
    ...made,
  ]);
}

function withoutTime(rule: unknown): string {
  return canonicalJson(isObject(rule) && 'answered' in rule ? { ...rule, answered: true } : rule);
}

/**
 * Replaces the list of rules in the file. Two processes change it one after the other. The file's folder must exist.
 * @throws {LocalError} for a file that is no list of rules, which stays as it is.
 */
export async function changeRules(
  path: string,
  change: (rules: readonly unknown[]) => readonly unknown[],
): Promise<void> {
  using _ = await takeTurn(`${path}.lock`, `Another program is changing ${path}: try again.`);
  const file = parseFile((await readIfThere(path)) ?? '{}', path);
  const rules = change(file.rules ?? []);
  replaceFile(path, `${JSON.stringify({ ...file, rules }, undefined, 2)}\n`);
}

function parseFile(text: string, path: string): { readonly rules?: readonly unknown[] } {
  const refusal = `${path} is not a valid file of rules: repair it by hand.`;
  let file: unknown;
  try {
    file = parseJson(text);
  } catch (cause) {
    throw new LocalError('refused', refusal, { cause });
  }
  if (isObject(file) && (!('rules' in file) || Array.isArray(file['rules']))) return file;
  throw new LocalError('refused', refusal);
}
