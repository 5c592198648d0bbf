/** Judges whether one line is a new version of another, and whether lines can follow each other. */
import { INFORMATIVE_WEIGHT, weighLine } from './lines.ts';

/**
 * `same` for two versions of one line: they define the same name, leave by the same word, or one only adds to the
 * other. `doubt` for lines that share most of their words.
 */
export type Likeness = 'same' | 'doubt' | 'other';

export function likenessOf(one: string, other: string): Likeness {
  if (indentOf(one) !== indentOf(other)) return 'other';
  if (one === other) return 'same';
  const key = keyOf(one);
  if (key !== null && key === keyOf(other)) return 'same';
  if (nameOf(one) !== null && nameOf(other) !== null) return 'other';
  if (ATTRIBUTE.test(one) && ATTRIBUTE.test(other)) return 'doubt';
  const [a, b] = [wordsOf(one), wordsOf(other)];
  const [shorter, longer] = a.length <= b.length ? [a, b] : [b, a];
  if (shorter[0] === longer[0] && isWithin(tokensOf(one), tokensOf(other))) return 'same';
  const shared = countShared(shorter, longer);
  if (shared * 2 > longer.length) return 'doubt';
  if (shorter.length > 1 && isOneTokenApart(tokensOf(one), tokensOf(other))) return 'doubt';
  const target = TARGET.exec(one)?.[0];
  return target !== undefined && target === TARGET.exec(other)?.[0] ? 'doubt' : 'other';
}

/** Whether the line begins a function, a class or the like. */
function isDefinition(line: string): boolean {
  return nameOf(line) !== null || HEADING.test(line);
}

const MODIFIERS =
  '(?:export|default|pub(?:\\([a-z]+\\))?|public|private|protected|static|final|abstract|async|unsafe|override|virtual|inline|extern|declare)\\s+';
const DEFINITION = new RegExp(
  `^\\s*(?:${MODIFIERS})*(?:def|function\\*?|fn|func|fun|class|struct|enum|interface|trait|impl|type|namespace|module|mod)\\s+[\\w(]`,
);
const HEADING = /^#{2,6} /;
const DECLARATION = new RegExp(`^\\s*(?:${MODIFIERS})*(?:const|let(?:\\s+mut)?|var|val)\\s+[\\w$]`);

/** The name that the line defines, with what stands before it; null for a line that is no definition. */
function nameOf(line: string): string | null {
  const text = line.trim();
  if (text.length > LONGEST_HEADER) return null;
  if (DEFINITION.test(text)) return /^[^=({:<]*/.exec(text)?.[0].trim() ?? null;
  if (!text.endsWith('{')) return null;
  return CONTROL.test(text) ? null : (FUNCTION.exec(text)?.[1] ?? null);
}

/** No header is longer, and long lines take the patterns long. */
const LONGEST_HEADER = 500;

/** A function or method without a keyword, as in C, Java and classes of JavaScript. */
const FUNCTION = /^((?:[\w<>[\],.*&:?]+\s+)*[\w~$#]+)\s*\([^;{}]*\)[\w\s:<>[\],.&|-]*\{$/;

/** Whether the line heads a section of text, whose lines are not indented. */
function isHeading(line: string): boolean {
  return HEADING.test(line);
}

/** One of several lines that may stand above a definition. */
const ATTRIBUTE = /^\s*(?:@\w|#!?\[)/;

/** Whether the line begins a unit: a definition, a section, or a block that is no part of a function. */
export function isUnitStart(line: string, next: string | undefined): boolean {
  if (!isInformative(line)) return false;
  if (isDefinition(line)) return true;
  const isOpening = next !== undefined && indentOf(next) > indentOf(line);
  return isOpening && (indentOf(line) === 0 || (/[{(]$/.test(line) && !CONTROL.test(line)));
}

const CONTROL =
  /^\s*(?:\}\s*)?(?:if|else|for|foreach|while|do|loop|switch|select|match|case|try|catch|finally|with|unsafe|return|await)\b|=/;

/** What a line can only do once at its place; null for a line that may well stand beside another like it. */
function keyOf(line: string): string | null {
  const text = line.trim();
  if (isLeaving(text)) return 'leaves';
  const name = nameOf(line);
  if (name !== null) return name;
  if (DECLARATION.test(line)) return /^[^=({:<]*/.exec(text)?.[0].trim() ?? null;
  if (text.startsWith('<')) return null;
  const typed = /^(?:[\w.<>[\]]+\s+)?([A-Za-z_]\w*)\s*(?::=|(?<=\w\s+\w+\s*)=(?!=))/.exec(text);
  if (typed !== null) return typed[0];
  return /^(?:["']?[A-Za-z_@-][\w.@-]*["']?)\s*:(?=\s|$)/.exec(text)?.[0] ?? null;
}

/** Whether the line leaves its block, so that nothing of the same indentation runs after it. */
export function isLeaving(line: string): boolean {
  return LEAVES.test(line.trim());
}

const LEAVES = /^(?:(?:return|raise|throw|break|continue)\b|None$|(?:Some|Ok|Err)\(.*\)$)/;

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_$]+/gu) ?? [];
}

function tokensOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_$]+|[^\s\p{L}\p{N}_$]/gu) ?? [];
}

/** What an assignment changes. */
const TARGET = /^\s*[\w.$[\]]+\s*(?=[-+*/|&^%]?=(?!=))/;

function isOneTokenApart(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.filter((token, at) => token !== other[at]).length === 1;
}

/** Whether one list has all items of the other in the same order. */
function isWithin(one: readonly string[], other: readonly string[]): boolean {
  const [shorter, longer] = one.length <= other.length ? [one, other] : [other, one];
  let at = 0;
  for (const item of longer) if (item === shorter[at]) at++;
  return at === shorter.length;
}

function countShared(shorter: readonly string[], longer: readonly string[]): number {
  const left = [...longer];
  let shared = 0;
  for (const word of shorter) {
    const at = left.indexOf(word);
    if (at < 0) continue;
    left.splice(at, 1);
    shared++;
  }
  return shared;
}

/** The width of a line's indentation. */
export function indentOf(line: string): number {
  let width = 0;
  for (const sign of line) {
    if (sign === '\t') width += 4;
    else if (sign === ' ') width++;
    else break;
  }
  return width;
}

/** Whether the second line belongs to what the first begins: it is deeper, or in the section of a heading. */
export function owns(line: string, other: string): boolean {
  if (line === '' || COMMENT.test(line)) return false;
  return indentOf(line) < indentOf(other) || (isHeading(line) && !isHeading(other));
}

/** A comment or a line for the preprocessor: both may stand at any indentation. */
const COMMENT = /^\s*(?:\/[/*]|#(?!#{1,5} ))/;

/** Whether two lines may follow each other: not after a line that leaves, nor after a header without a body. */
export function canFollow(before: string | undefined, after: string | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  const deeper = indentOf(after) - indentOf(before);
  if (PYTHON_HEADER.test(before)) return deeper > 0;
  if (HEADING.test(before) && HEADING.test(after)) return false;
  return !(
    isLeaving(before) &&
    deeper >= 0 &&
    isInformative(after) &&
    !/^\s*(?:case\b|default\b|#|\/\/)/.test(after)
  );
}

const PYTHON_HEADER =
  /^\s*(?:(?:async\s+)?(?:def|class|for|while|if|elif|with|match)\s.*|else|try|finally|except\b.*):$/;

export function isInformative(line: string): boolean {
  return weighLine(line) === INFORMATIVE_WEIGHT;
}

/** A line that only closes what another has opened. */
export function isCloser(line: string): boolean {
  return /^\s*(?:[)\]}]|<\/|end\b)/.test(line) && !isInformative(line);
}

/** Open brackets and tags less closed ones, without those in quotes. */
export function balanceOf(lines: readonly string[]): number {
  let balance = 0;
  for (const line of lines) {
    if (!/[()[\]{}<]/.test(line)) continue;
    for (const sign of line.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`/g, '')) {
      if ('([{'.includes(sign)) balance++;
      else if (')]}'.includes(sign)) balance--;
    }
    if (/^\s*</.test(line)) balance += TAG * tagBalanceOf(line);
  }
  return balance;
}

/** Tags are counted apart from brackets, in one number. */
const TAG = 1_000_003;

function tagBalanceOf(line: string): number {
  const opened = line.match(
    /<(?!(?:area|br|col|hr|img|input|link|meta|source|wbr)\b)\w[^>]*(?<!\/)>/g,
  );
  const closed = line.match(/<\/\w/g);
  return (opened?.length ?? 0) - (closed?.length ?? 0);
}
