/** Puts what a person wrote behind a command's name into its text. Runs nothing. Pure. */
import type { SkillFamily } from './places.ts';

export interface Expanding {
  readonly family: SkillFamily;
  /** What follows the name, as written. */
  readonly args: string;
  readonly argumentNames: readonly string[];
  /** Where the skill's files lie, for `${CLAUDE_SKILL_DIR}`. */
  readonly folder: string;
}

/**
 * Claude Code's `$ARGUMENTS`, `$ARGUMENTS[0]`, `$0` and names of the head, each replaced once: words that look like one
 * stay words. What has no word behind the name stays as it is. Without a place for them the words stand at the end.
 */
export function expand(body: string, { family, args, argumentNames, folder }: Expanding): string {
  const given = args.trim();
  const words = wordsOf(given);
  let isUsed = false;
  const use = (value: string | undefined, whole: string) => {
    isUsed = true;
    return value ?? whole;
  };
  const fill = (whole: string, ...groups: (string | undefined)[]) => {
    const [escaped, index, short, name] = groups;
    if (escaped !== undefined) return whole.slice(1);
    if (whole.endsWith('}')) return folder;
    if (whole === '$ARGUMENTS') return use(given, whole);
    const at = name === undefined ? Number(index ?? short) : argumentNames.indexOf(name);
    return at < 0 ? whole : use(words[at], whole);
  };
  const text = family === 'claude' ? body.replace(PLACEHOLDER, fill) : body;
  return isUsed || given === '' ? text : `${text}\n\nARGUMENTS: ${given}`;
}

const PLACEHOLDER =
  /(\\)\$(?=[\w{])|\$\{CLAUDE_SKILL_DIR\}|\$ARGUMENTS\[(\d{1,3})\]|\$ARGUMENTS\b|\$(\d{1,3})\b|\$([A-Za-z_]\w*)/g;

/** As a shell splits them: quotes keep blanks in a word, and go. */
function wordsOf(text: string): string[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|\S)+/g) ?? [];
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, one, two) => one ?? two));
}

/** Whether the text wants output of commands in its place, as Claude Code puts it there. */
export function wantsOutput(body: string): boolean {
  return /(?:^|\s)!`[^`\n]+`|^```!/m.test(body);
}
