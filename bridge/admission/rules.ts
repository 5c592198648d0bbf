/** The rules of a machine's owner and of a workspace, as their files hold them. */
import { z } from 'zod';
import { readPlainFile } from '../../machine/private-files.ts';
import { isSystemError } from '../../machine/system-error.ts';
import { DrawbridgeError, invalidRequest } from '../../shared/errors.ts';

/** From the mildest to the strictest. */
export const Decision = z.enum(['allow', 'ask', 'deny']);
export type Decision = z.infer<typeof Decision>;

export const Rule = z.strictObject({
  /** A tool's name or alias, or a pattern of names. */
  tool: z.string().min(1),
  /** Matched against the call's path or command line; everything without it. */
  pattern: z.string().min(1).default('*'),
  decision: Decision,
});
export type Rule = z.infer<typeof Rule>;

const RuleFile = z.strictObject({ rules: z.array(Rule) });

/** The file's rules; none when there is no such file. A file that is wrong throws, for its rules may be missed. */
export async function readRules(path: string): Promise<readonly Rule[]> {
  try {
    return parseRules(await readPlainFile(path), path);
  } catch (error) {
    if (isSystemError(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Parses the JSON of a rule file. `origin` names it in the error. */
export function parseRules(json: string, origin: string): readonly Rule[] {
  const parsed = RuleFile.safeParse(toValue(json, origin));
  if (parsed.success) return parsed.data.rules;
  const { message } = invalidRequest(parsed.error);
  throw new DrawbridgeError(
    'NOT_CONFIGURED',
    `${origin} is not a file of rules: ${message}. ${FORM}`,
  );
}

/** The strictest of some decisions. */
export function strictest(decisions: readonly Decision[]): Decision {
  if (decisions.includes('deny')) return 'deny';
  return decisions.includes('ask') ? 'ask' : 'allow';
}

const FORM =
  'Expected: {"rules":[{"tool":"run_terminal_cmd","pattern":"git push*","decision":"deny"}]}';

function toValue(json: string, origin: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new DrawbridgeError('NOT_CONFIGURED', `${origin} is not JSON. ${FORM}`, { cause });
  }
}
