/** What the owner's files of a bridge allow, for people. They change at the machine alone. */
import * as z from 'zod';
import { GRANT_LIMITS, POLICY_LIMITS, REQUEST_LIMITS } from '../limits.ts';
import { named } from '../named.ts';
import { AccountGrant } from './grants.ts';
import { Preset } from './preset.ts';

/** From the mildest to the strictest. */
export const Decision = z.enum(['allow', 'ask', 'deny']);
export type Decision = z.infer<typeof Decision>;

const Name = z.string().max(REQUEST_LIMITS.maxNameChars);

/** A rule of the owner. */
export const PolicyRule = z.object({
  /** `drawbridge policy revoke` takes it. */
  id: z.string().regex(/^[0-9a-f]{8}$/),
  /** For all projects of the machine, or for this one. */
  scope: z.enum(['everywhere', 'project']),
  decision: Decision,
  /** A tool's name, a category, or a pattern of names. */
  tool: Name,
  /** Cut to `maxPatternChars`: a cut one ends with an ellipsis. */
  pattern: z.string().max(POLICY_LIMITS.maxPatternChars),
  /** For commands: it allows none that asks for another permission. */
  permissions: z.array(Name).max(POLICY_LIMITS.maxPermissions).optional(),
  /** For commands: it holds only in a sandbox. */
  sandbox: z.literal(true).optional(),
  /** When a person's answer made it. */
  answered: z.iso.datetime().optional(),
});
named.add(PolicyRule, { id: 'PolicyRule' });
export type PolicyRule = z.infer<typeof PolicyRule>;

/** `GET bridges/{id}/policy`: the files as they are at this moment. */
export const MachinePolicy = z.object({
  /** Null where the files of rules cannot be read: no call runs then. */
  preset: Preset.nullable(),
  /** The last ones, in the order in which they count: the last rule that matches wins. */
  rules: z.array(PolicyRule).max(POLICY_LIMITS.maxRules),
  /** Of all rules. */
  ruleCount: z.int().nonnegative(),
  grants: z.array(AccountGrant).max(GRANT_LIMITS.maxGrants),
  /** What is wrong with the files, in a sentence for each. A wrong file of grants lets no one in. */
  problems: z.array(z.string().max(POLICY_LIMITS.maxProblemChars)).max(POLICY_LIMITS.maxProblems),
});
named.add(MachinePolicy, { id: 'MachinePolicy' });
export type MachinePolicy = z.infer<typeof MachinePolicy>;
