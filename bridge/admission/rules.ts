/** The rules of a machine's owner and of a workspace, as their files hold them. */
import { join } from 'node:path';
import * as z from 'zod';
import { requireOwnersFile } from '../../machine/owners-file.ts';
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { DrawbridgeError, invalidRequest } from '../../shared/errors.ts';
import { nameInLine } from '../../shared/text/plain-sight.ts';
import { Permission } from '../../shared/tools/run-terminal-cmd.ts';
import { Decision } from '../../shared/wire/policy.ts';
import { Preset } from '../../shared/wire/preset.ts';
import { NETWORK, problemOfName } from './rule-names.ts';

export const Rule = z
  .strictObject({
    /** A tool's name or alias, a category, or a pattern of names: see rule-names.ts. */
    tool: z
      .string()
      .min(1)
      .superRefine((name, context) => {
        const problem = problemOfName(name);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      }),
    /** Matched against the call's path or command line, or against a host. The default matches everything. */
    pattern: z.string().min(1).default('*'),
    decision: Decision,
    /**
     * Digest of an offered tool's one definition that the rule applies to. A rule that allows an offered tool needs it.
     */
    definition: z
      .string()
      .regex(/^[0-9a-f]{64}$/, { error: 'it is the digest that the question about the tool shows' })
      .optional(),
    /** For a rule that allows commands: it allows none that asks for another permission. Absent: any but `all`. */
    permissions: z.array(Permission).optional(),
    /** For a rule that allows commands: it holds only where a sandbox holds them. */
    sandbox: z.literal(true).optional(),
    /** When a person's answer made the rule. It lifts questions only: a rule that forbids counts more. */
    answered: z.iso.datetime().optional(),
  })
  .refine(
    ({ decision, answered, permissions, sandbox }) =>
      decision === 'allow' || !(answered || permissions || sandbox),
    {
      error: '"permissions", "sandbox" and "answered" are for a rule that allows',
    },
  );
export type Rule = z.infer<typeof Rule>;

const RuleFile = z
  .strictObject({ preset: Preset.optional(), rules: z.array(Rule).optional() })
  .refine(({ preset, rules }) => preset !== undefined || rules !== undefined, {
    error: 'it has neither "preset" nor "rules"',
  });
type PolicyFile = z.infer<typeof RuleFile>;

/** The meaning of a rule file: the rules of its preset, then its own. */
interface PolicyRules {
  readonly rules: readonly Rule[];
  /** Whether a confined command, and beside it web_fetch, may use the network without a question. No other permission is included. */
  readonly trustsNetwork: boolean;
}

/** A rule file starts from a preset. Its own rules come after and win. */
const PRESETS: Readonly<Record<Preset, PolicyRules>> = {
  'read-only': { rules: forAll('deny'), trustsNetwork: false },
  ask: { rules: forAll('ask'), trustsNetwork: false },
  workspace: { rules: [], trustsNetwork: false },
  trusted: { rules: [], trustsNetwork: true },
};

/** The rules of a preset alone. */
export function rulesOfPreset(preset: Preset): PolicyRules {
  return PRESETS[preset];
}

/** For all that changes something or reaches out. */
function forAll(decision: Rule['decision']): readonly Rule[] {
  return ['edit', 'command', 'web', NETWORK, 'mcp:*'].map((tool) => ({
    tool,
    pattern: '*',
    decision,
  }));
}

/**
 * The file's rules. `usual` is the preset without a file, and of a file that names none. Throws for a wrong file,
 * because its rules may be needed.
 */
export async function readRules(path: string, usual: Preset = 'workspace'): Promise<PolicyRules> {
  return meaningOf([await readRuleFile(path)], usual);
}

/** The owner's files of rules. The rules of the project come last, and win. */
export interface OwnersFiles {
  readonly project: string;
  /** For all projects. Another user may not change it. Undefined without a home folder. */
  readonly everywhere: string | undefined;
}

export const RULE_FILE_NAME = 'policy.json';

/** The files in the folder of a project's state and, where there is one, in that of the owner's configuration. */
export function ownersFiles(stateDir: string, configDir: string | undefined): OwnersFiles {
  const everywhere = configDir === undefined ? undefined : join(configDir, RULE_FILE_NAME);
  return { project: join(stateDir, RULE_FILE_NAME), everywhere };
}

/** The rules of both files. The preset of the project counts, else that for all projects, else `usual`. */
export async function readOwnersRules(
  { project, everywhere }: OwnersFiles,
  usual: Preset = 'workspace',
): Promise<PolicyRules> {
  const shared = everywhere === undefined ? {} : await readRuleFile(everywhere);
  if (everywhere !== undefined && shared !== NO_FILE) await requireOwnersFile(everywhere);
  return meaningOf([shared, await readRuleFile(project)], usual);
}

/** Parses the JSON of a rule file. `origin` names it in the error. */
export function parseRules(json: string, origin: string, usual: Preset = 'workspace'): PolicyRules {
  return meaningOf([parseRuleFile(json, origin)], usual);
}

function meaningOf(files: readonly PolicyFile[], usual: Preset): PolicyRules {
  const preset = files.findLast((file) => file.preset !== undefined)?.preset ?? usual;
  const { rules: first, trustsNetwork } = PRESETS[preset];
  return { rules: [...first, ...files.flatMap(({ rules = [] }) => rules)], trustsNetwork };
}

const NO_FILE: PolicyFile = {};

/** A rule file as it is written; empty without the file. Throws for a wrong one. */
export async function readRuleFile(path: string): Promise<PolicyFile> {
  try {
    return parseRuleFile(await readPlainFile(path), path);
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return NO_FILE;
    throw error;
  }
}

function parseRuleFile(json: string, origin: string): PolicyFile {
  const parsed = RuleFile.safeParse(toValue(json, origin));
  if (parsed.success) return parsed.data;
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
