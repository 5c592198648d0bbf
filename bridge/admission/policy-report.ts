/** What the owner's files allow, for people on other devices. */
import { POLICY_LIMITS, REQUEST_LIMITS } from '../../shared/limits.ts';
import { inOneLine, shorten } from '../../shared/text/plain-sight.ts';
import type { MachinePolicy, PolicyRule } from '../../shared/wire/policy.ts';
import type { Preset } from '../../shared/wire/preset.ts';
import { readGrants } from '../grantees/grant-file.ts';
import { type ListedRule, listOwnersRules } from './listed-rules.ts';
import { ownersFiles, readOwnersRules } from './rules.ts';

/** Where the files are. `preset` counts where they name none. */
interface PolicyPlace {
  readonly stateDir: string;
  readonly configDir?: string | undefined;
  readonly preset?: Preset | undefined;
}

/** The files as they are at this moment, cut to what a frame takes. Does not reject. */
export async function reportPolicy({
  stateDir,
  configDir,
  preset = 'workspace',
}: PolicyPlace): Promise<MachinePolicy> {
  const problems: string[] = [];
  const orProblem = (error: unknown) => {
    problems.push(sentenceOf(error));
    return undefined;
  };
  const files = ownersFiles(stateDir, configDir);
  const listed = await readOwnersRules(files)
    .then(() => listOwnersRules(files))
    .catch(orProblem);
  const grants = await readGrants(stateDir).catch(orProblem);
  const rules = listed?.rules ?? [];
  return {
    preset: listed ? (listed.preset ?? preset) : null,
    rules: rules.slice(-POLICY_LIMITS.maxRules).map(toShown),
    ruleCount: rules.length,
    grants: [...(grants ?? [])],
    problems,
  };
}

function toShown({ id, scope, rule }: ListedRule): PolicyRule {
  const { definition: _, tool, pattern, ...rest } = rule;
  return {
    id,
    scope,
    ...rest,
    tool: shorten(tool, REQUEST_LIMITS.maxNameChars),
    pattern: shorten(pattern, POLICY_LIMITS.maxPatternChars),
  };
}

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return shorten(inOneLine(message), POLICY_LIMITS.maxProblemChars);
}
