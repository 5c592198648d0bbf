/** The rules of a machine's owner and of a workspace, as their files hold them. */

import * as z from 'zod';
import { Preset } from '../../machine/preset.ts';
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { DrawbridgeError, invalidRequest } from '../../shared/errors.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { problemOfName } from './rule-names.ts';

/** From the mildest to the strictest. */
export const Decision = z.enum(['allow', 'ask', 'deny']);
export type Decision = z.infer<typeof Decision>;

export const Rule = z.strictObject({
  /** A tool's name or alias, a category, or a pattern of names: see rule-names.ts. */
  tool: z
    .string()
    .min(1)
    .superRefine((name, context) => {
      const problem = problemOfName(name);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    }),
  /** Matched against the call's path or command line. The default matches everything. */
  pattern: z.string().min(1).default('*'),
  decision: Decision,
  /**
   * Digest of an offered tool's one definition that the rule applies to. A rule that allows an offered tool needs it.
   */
  definition: z
    .string()
    .regex(/^[0-9a-f]{64}$/, { error: 'it is the digest that the question about the tool shows' })
    .optional(),
});
export type Rule = z.infer<typeof Rule>;

const RuleFile = z
  .strictObject({ preset: Preset.optional(), rules: z.array(Rule).optional() })
  .refine(({ preset, rules }) => preset !== undefined || rules !== undefined, {
    error: 'it has neither "preset" nor "rules"',
  });

/** The meaning of a rule file: the rules of its preset, then its own. */
export interface PolicyRules {
  readonly rules: readonly Rule[];
  /** Whether a confined command, and beside it web_fetch, may use the network without a question. No other permission is included. */
  readonly trustsNetwork: boolean;
}

/** A rule file starts from a preset. Its own rules come after and win. */
const PRESETS: Readonly<Record<Preset, PolicyRules>> = {
  'read-only': { rules: forAll('deny', ['edit', 'command', 'web', 'mcp:*']), trustsNetwork: false },
  ask: { rules: forAll('ask', ['edit', 'command', 'web', 'mcp:*']), trustsNetwork: false },
  workspace: { rules: [], trustsNetwork: false },
  trusted: { rules: [], trustsNetwork: true },
};

function forAll(decision: Rule['decision'], categories: readonly string[]): readonly Rule[] {
  return categories.map((tool) => ({ tool, pattern: '*', decision }));
}

/**
 * The file's rules. `usual` is the preset without a file, and of a file that names none. Throws for a wrong file,
 * because its rules may be needed.
 */
export async function readRules(path: string, usual: Preset = 'workspace'): Promise<PolicyRules> {
  try {
    return parseRules(await readPlainFile(path), path, usual);
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return PRESETS[usual];
    throw error;
  }
}

/** Parses the JSON of a rule file. `origin` names it in the error. */
export function parseRules(json: string, origin: string, usual: Preset = 'workspace'): PolicyRules {
  const parsed = RuleFile.safeParse(toValue(json, origin));
  if (parsed.success) {
    const { preset = usual, rules = [] } = parsed.data;
    const { rules: first, trustsNetwork } = PRESETS[preset];
    return { rules: [...first, ...rules], trustsNetwork };
  }
  const { message } = invalidRequest(parsed.error);
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `${origin} is not a file of rules: ${message}. ${FORM}`,
  );
}

/** A sentence for each rule of the owner that can match no call. */
export function idleRules({ rules }: PolicyRules): string[] {
  return rules.flatMap(({ tool, pattern, decision, definition }) => {
    const isAboutServers = /^mcp[:_]/.test(tool);
    const rule = `The rule "${decision} ${nameInLine(tool)} ${nameInLine(pattern)}" of policy.json has no effect`;
    if (isAboutServers && decision === 'allow' && definition === undefined)
      return [`${rule}: it needs "definition". Answer "a" to a question about the tool to add it.`];
    // No subject of an offer is without a slash.
    if (isAboutServers && !/[/*?]/.test(pattern))
      return [`${rule}: its pattern is "server/tool", such as "tickets/find".`];
    return !isAboutServers && definition !== undefined && !/[*?]/.test(tool)
      ? [`${rule}: only tools of MCP servers have a "definition".`]
      : [];
  });
}

/** The strictest of some decisions. */
export function strictest(decisions: readonly Decision[]): Decision {
  if (decisions.includes('deny')) return 'deny';
  return decisions.includes('ask') ? 'ask' : 'allow';
}

const FORM =
  'Expected: {"preset":"workspace","rules":[' +
  '{"tool":"command","pattern":"git push*","decision":"deny"}]}';

function toValue(json: string, origin: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new DrawbridgeError('NOT_CONFIGURED', `${origin} is not JSON. ${FORM}`, { cause });
  }
}
