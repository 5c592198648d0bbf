/** What a language server finds wrong in a text, and which of it is new. Pure. */
import * as z from 'zod';
import { inOneLine, shorten } from '../../shared/text/plain-sight.ts';
import { DIAGNOSTICS_LIMITS } from './limits.ts';

/** All of it is untrusted text. */
export interface Finding {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: 'error' | 'warning';
  /** In one line. */
  readonly message: string;
  /** The server's own name for the kind of finding; empty where it has none. */
  readonly code: string;
}

const Position = z.object({ line: z.int().nonnegative(), character: z.int().nonnegative() });

const Diagnostic = z.object({
  range: z.object({ start: Position }),
  /** 1 is an error, 2 a warning; others are hints. Without it the client decides. */
  severity: z.int().default(1).catch(1),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  source: z.string().optional().catch(undefined),
  message: z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)]),
});

const { maxMessageChars } = DIAGNOSTICS_LIMITS;

/** What servers report of a file, without hints. */
export const Diagnostics = z.array(Diagnostic).transform((all): Finding[] =>
  all
    .filter(({ severity }) => severity === 1 || severity === 2)
    .map(({ range: { start }, severity, code, source, message }) => ({
      line: start.line + 1,
      column: start.character + 1,
      severity: severity === 1 ? 'error' : 'warning',
      message: shorten(inOneLine(message.replaceAll(/\s+/g, ' ').trim()), maxMessageChars),
      code: shorten(inOneLine([source, code].filter((part) => part !== undefined).join(' ')), 100),
    })),
);

/** A text, and what is wrong in it. */
export interface LookedText {
  readonly text: string;
  readonly findings: readonly Finding[];
}

/**
 * The errors of `after` that `before` does not have. Lines move, so a place says nothing: an error is old where the same
 * message was there about the same line of text, or the same rule about it (messages quote types that change), or else
 * the same message about any line.
 */
export function newErrors(before: LookedText, after: LookedText): readonly Finding[] {
  const [oldLines, lines] = [before, after].map(({ text }) => text.split('\n'));
  let left: Errors = {
    old: before.findings.filter(isError),
    fresh: after.findings.filter(isError),
  };
  for (const keyOf of SAMENESS) {
    const keyIn =
      (all: readonly string[] = []) =>
      (finding: Finding) =>
        keyOf(finding, all[finding.line - 1]?.trim() ?? '');
    left = without(left, keyIn(oldLines), keyIn(lines));
  }
  return left.fresh;
}

/** What two equal errors share, the surest sign first. */
const SAMENESS: readonly ((finding: Finding, line: string) => string)[] = [
  ({ code, message }, line) => [code, message, line].join('\0'),
  ({ code, message }, line) => (code === '' ? [message, line] : [code, line]).join('\0'),
  ({ code, message }) => [code, message].join('\0'),
];

interface Errors {
  readonly old: readonly Finding[];
  readonly fresh: readonly Finding[];
}

/** Takes each old error away from an equal new one, once. */
function without(
  { old, fresh }: Errors,
  oldKeyOf: (finding: Finding) => string,
  keyOf: (finding: Finding) => string,
): Errors {
  const left = groupBy(old, oldKeyOf);
  const others = fresh.filter((finding) => left.get(keyOf(finding))?.pop() === undefined);
  return { old: [...left.values()].flat(), fresh: others };
}

function groupBy(all: readonly Finding[], keyOf: (finding: Finding) => string) {
  const groups = new Map<string, Finding[]>();
  for (const finding of all) {
    const key = keyOf(finding);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  return groups;
}

export function isError({ severity }: Pick<Finding, 'severity'>): boolean {
  return severity === 'error';
}

/**
 * Whether the error says that another file or package is missing. It may come next, in the same reply, or with the next
 * installation; until then a server knows too little of the types.
 */
export function isAboutAnotherFile({ code }: Finding): boolean {
  return MISSING_FILES.test(code);
}

/** Of TypeScript: no module, no types of it, no global names of Node, tests or JSX. Of pyright: no import. */
const MISSING_FILES =
  /(?:^|\s)(?:2307|258[0124]|259[123]|2688|2792|2875|2882|7016|7026|reportMissing(?:Imports|ModuleSource|TypeStubs))$/;
