/** Recognizes lines that define a name, for the most common languages. */

/** The name that a line defines, or null. For a Markdown heading the name is the whole heading. */
export function nameDefinedBy(line: string): string | null {
  if (line.length > LONGEST_DEFINITION) return null;
  for (const form of FORMS) {
    const name = form.exec(line)?.groups?.['name'];
    if (name !== undefined && !NO_NAMES.has(name)) return name;
  }
  return null;
}

/** In characters. A longer line is data, and not worth a regular expression. */
const LONGEST_DEFINITION = 300;

/** Words that may stand before a definition's keyword. Allowing any word would mistake prose for definitions. */
const MODIFIERS =
  'abstract async case companion const data declare default export extern final global inline internal local open ' +
  'override partial private protected pub public readonly sealed static suspend unsafe virtual';

/** Keywords that a name follows. */
const KEYWORDS =
  'class def defmacro defmodule defp enum extension fn fun func function impl interface macro_rules! mixin module ' +
  'namespace proc protocol struct sub trait type typedef union';

/** Keywords that are also usual words. After them a name counts only when it begins with a capital. */
const SOFT_KEYWORDS = 'contract message model object record service';

const FORMS: readonly RegExp[] = [
  // class Name, export async function name, pub(crate) fn name, func (r *Receiver) name, impl<T> Name
  form(
    String.raw`${modified()}${oneOf(KEYWORDS)}\*?\s*(?:<[^>]*>)?\s+(?:\([^)]*\)\s*)?(?<name>${name()})`,
  ),
  form(String.raw`${modified()}${oneOf(SOFT_KEYWORDS)}\s+(?=\p{Lu})(?<name>${name()})`),
  // const name = ..., static NAME: Type = ..., app = Flask(...): only at the top level; elsewhere a local variable
  form(
    String.raw`(?!\s)${modified()}(?:const|let|var|val|static|final)\s+(?:mut\s+)?(?<name>${name()})`,
  ),
  form(String.raw`(?<name>${name()})\s*(?::[^=]+)?:?=(?![=>])`),
  // a method: modifiers, perhaps a type, name(...) and an opening brace
  form(
    String.raw`\s*(?!(?:return|await|throw|yield|else|new|case)\b)(?:[\p{L}_][\p{L}\p{N}_<>[\],.?*&:]*\s+){0,5}[*&#]?(?<name>${name()})\s*(?:<[^>]*>)?\([^;]*\{\s*$`,
  ),
  // create table name
  /^\s*create\s+(?:or\s+replace\s+)?(?:unique\s+)?(?:table|view|index|function|procedure|trigger)\s+(?:if\s+not\s+exists\s+)?["`[]?(?<name>[\p{L}_][\p{L}\p{N}_]*)/iu,
  /^\s*#\s*define\s+(?<name>[\p{L}_][\p{L}\p{N}_]*)/u,
  // ## A heading
  /^#{1,6}\s+(?<name>\S.*)$/u,
];

function form(source: string): RegExp {
  return new RegExp(`^${source}`, 'u');
}

function modified(): string {
  return String.raw`\s*(?:${oneOf(MODIFIERS)}(?:\([\w\s]+\))?\s+){0,5}`;
}

function oneOf(words: string): string {
  return `(?:${words.replaceAll(' ', '|')})`;
}

function name(): string {
  return String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;
}

/** Keywords that stand where a name would. */
const NO_NAMES: ReadonlySet<string> = new Set(
  'if for while switch catch return await else elif do try with using match when unless function super new in of is'.split(
    ' ',
  ),
);
