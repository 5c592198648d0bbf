/** Text that a person decides about, shown so that two different texts never look the same on a terminal. */
import type { Proposal } from './approvals.ts';

/**
 * Every character that a terminal does not show as itself becomes `\\u{…}`, but a line feed stays. A backslash in front of
 * such an escape, or of text that looks like one, is doubled: whoever reads it can tell an escape from written text.
 */
export function inPlainSight(text: string): string {
  return text
    .replace(AMBIGUOUS_BACKSLASHES, '$&$&')
    .replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A proposal line by line, uncut: the arguments are indented, and their further lines stand deeper. */
export function describeProposal({ arguments: args }: Proposal): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const [first = '', ...rest] = inPlainSight(text).split('\n');
    return [`  ${nameInPlainSight(name)}: ${first}`, ...rest.map((line) => `    ${line}`)];
  });
}

/** A name that is no plain word is quoted, so that it cannot look like a name with a value. */
function nameInPlainSight(name: string): string {
  return /^\w+$/.test(name) ? name : inPlainSight(JSON.stringify(name));
}

/** Controls, formats, blanks other than the space, surrogates, and what no font shows. A line feed is none of them. */
const HIDDEN_CLASS =
  '(?!\\n)[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\u115f\\u1160\\u2800\\u3164\\uffa0]|(?! )\\p{Zs}';
const HIDDEN = new RegExp(HIDDEN_CLASS, 'gu');
const AMBIGUOUS_BACKSLASHES = new RegExp(`\\\\+(?=u\\{|${HIDDEN_CLASS})`, 'gu');
