/** Finds the first mistake in a JSON text, with its place and in words: JSON.parse says it in V8's way, or not at all. */
import { printParseErrorCode, visit } from 'jsonc-parser';

/** `line` and `column` begin with 1. `what` completes the sentence "FILE, line 3, column 5: ...". */
export interface JsonMistake {
  readonly line: number;
  readonly column: number;
  readonly what: string;
}

/** Deeper texts are refused: no setting needs as much, and the reader is recursive. */
const MAX_DEPTH = 32;

/** Null for a text that JSON.parse takes, in which no object has a key twice, and which is not too deep. */
export function findJsonMistake(text: string): JsonMistake | null {
  /** The keys of each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  let wanted = 'a value';
  const enter = (keys: Set<string> | null, at: number) => {
    if (open.push(keys) > MAX_DEPTH) {
      throw new Mistake(at, `this nests more than ${MAX_DEPTH} levels`);
    }
    wanted = keys ? 'a name in double quotes' : 'a value';
  };
  const endValue = () => {
    wanted = open.length === 0 ? 'the end of the file' : `a comma or ${open.at(-1) ? '}' : ']'}`;
  };
  const leave = () => {
    open.pop();
    endValue();
  };
  try {
    visit(
      text,
      {
        onObjectBegin: (at) => enter(new Set(), at),
        onArrayBegin: (at) => enter(null, at),
        onObjectEnd: leave,
        onArrayEnd: leave,
        onLiteralValue: endValue,
        onObjectProperty(name, at) {
          if (open.at(-1)?.has(name)) {
            throw new Mistake(at, `${JSON.stringify(name)} is set twice`);
          }
          open.at(-1)?.add(name);
          wanted = 'a colon';
        },
        onSeparator(sign) {
          wanted = sign === ',' && open.at(-1) ? 'a name in double quotes' : 'a value';
        },
        onError(code, at) {
          throw mistakeAt(text, at, wanted, printParseErrorCode(code));
        },
      },
      { disallowComments: true },
    );
    return null;
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const before = text.slice(0, error.at).split('\n');
    return { line: before.length, column: (before.at(-1) ?? '').length + 1, what: error.message };
  }
}

class Mistake extends Error {
  override readonly name = 'Mistake';
  readonly at: number;

  constructor(at: number, what: string) {
    super(what);
    this.at = at;
  }
}

function mistakeAt(text: string, at: number, wanted: string, code: string): Mistake {
  const rest = text.slice(at);
  if (code === 'InvalidEscapeCharacter' || code === 'InvalidUnicode') {
    const right = /^"(?:[^"\\]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*/i.exec(rest)?.[0] ?? '';
    return new Mistake(at + right.length, 'JSON has no such escape');
  }
  if (code === 'UnexpectedEndOfString' || code === 'InvalidCharacter') {
    return new Mistake(at, 'the closing quote of this text is missing');
  }
  if (code === 'UnexpectedEndOfNumber') return new Mistake(at, 'this number is not complete');
  if (rest === '') {
    const end = { CloseBraceExpected: 'a comma or }', CloseBracketExpected: 'a comma or ]' }[code];
    return new Mistake(at, `the text ends where ${end ?? wanted} must follow`);
  }
  if (/^[}\]]/.test(rest) && /,\s*$/.test(text.slice(0, at))) {
    return new Mistake(at, `a comma stands before ${rest[0]}: remove it`);
  }
  if (/^(?:\/\/|\/\*|#)/.test(rest)) return new Mistake(at, 'JSON has no comments');
  if (rest.startsWith("'")) return new Mistake(at, 'JSON has double quotes only');
  const found = /^(?:\w+|.)/u.exec(rest)?.[0] ?? '';
  // A word may be a key that a person pasted at the wrong place.
  const shown = found.length > 12 ? 'this word' : JSON.stringify(found);
  return new Mistake(at, `${wanted} must stand here, not ${shown}`);
}
