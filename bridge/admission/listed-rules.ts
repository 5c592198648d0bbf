/** The owner's rules with ids, as lists show them. */
import { sha256 } from '../../machine/hash.ts';
import { canonicalJson } from '../../shared/wire/approval-text.ts';
import type { PolicyRule } from '../../shared/wire/policy.ts';
import type { Preset } from '../../shared/wire/preset.ts';
import { type OwnersFiles, type Rule, readRuleFile } from './rules.ts';

export interface ListedRule extends Pick<PolicyRule, 'id' | 'scope'> {
  readonly rule: Rule;
}

/** In the order in which they count. `preset` is the one that the files name. Throws for a wrong file. */
export async function listOwnersRules({ project, everywhere }: OwnersFiles) {
  const read = async (scope: ListedRule['scope'], file: string | undefined) => {
    const { preset, rules = [] } = file === undefined ? {} : await readRuleFile(file);
    return { preset, rules: rules.map((rule) => ({ id: idOfRule(scope, rule), scope, rule })) };
  };
  const [all, own] = [await read('everywhere', everywhere), await read('project', project)];
  const rules: readonly ListedRule[] = [...all.rules, ...own.rules];
  const preset: Preset | undefined = own.preset ?? all.preset;
  return { rules, preset };
}

/** Two equal rules of one file have the same id, and are revoked together. */
export function idOfRule(scope: ListedRule['scope'], rule: Rule): string {
  return sha256(canonicalJson({ scope, rule })).slice(0, ID_DIGITS);
}

const ID_DIGITS = 8;
