/** The intents of the demo model: turns a message in plain words into steps. */
import {
  createUnnamed,
  type DemoStep,
  PLAN_BEGINS,
  replace,
  SUMMARY,
  single,
  write,
} from './steps.ts';

interface Intent {
  /** Shown to the user in the demo model's help. */
  readonly example: string;
  /** Patterns of whole requests; a space stands for any white space. */
  readonly forms: readonly string[];
  /** `said` returns the text of a group of the pattern, without quotes; '' if the group matched nothing. */
  readonly steps: (
    said: (group: string) => string,
    paths: readonly string[],
  ) => readonly DemoStep[];
}

/** Each quoted part is replaced by one of these characters, so that no pattern looks into it. */
const MARK = '\\uE000-\\uF8FF';
/** A word that contains a dot, a slash or a quoted part, or the name of a well-known file. */
const PATH = `(?:(?=\\S*[./${MARK}])\\S+|readme|license|makefile|dockerfile|changelog)`;
const PATHS = `(?<paths>${PATH}(?:(?:, and|,| and) ${PATH})*)`;
const FILES = '(?: me| all)?(?: the)?(?: files?| folders?| directory)?(?: called| named)?';
const PROJECT = '(?: the| this)? (?:project|workspace|repo|repository|codebase)';
const PLACE = `(?: here| in${PROJECT}| (?:in|of)(?: the)?(?: folder)? (?<place>\\S+)(?: folder)?)?`;
const WITH = '(?::| with| containing) (?<content>.+)';
const NEW = '(?:create|write|make|add)(?: an?| the)?(?: new)?(?: empty)?';

/** Tried from top to bottom on each request of a message. */
export const INTENTS: readonly Intent[] = [
  {
    example: 'what is in this project',
    forms: [`(?:what(?: is|'s)|explain|describe|summari[sz]e)(?: in)?${PROJECT}`],
    steps: () => [SUMMARY],
  },
  {
    example: 'list src',
    forms: [`(?:list|ls|show)${FILES}${PLACE}`, `(?:list|ls)${FILES} (?<place>\\S+)`],
    steps: (said) => [single('list_dir', said('place') || '.')],
  },
  {
    example: 'read package.json and README.md',
    forms: [`(?:read|show|open|cat|explain|describe|what(?: is|'s) in)${FILES} ${PATHS}`],
    steps: (_, paths) => paths.map((path) => single('read_file', path)),
  },
  {
    example: 'find *.json in src',
    forms: [`(?:find|locate)${FILES} (?<glob>[^\\s${MARK}]*[.*?/]\\S*)${PLACE}`],
    steps: (said) => [
      single('glob_file_search', said('glob'), { target_directory: said('place') || '.' }),
    ],
  },
  {
    example: 'search for "hello" in src',
    forms: ['search', 'grep', 'find', 'look'].map(
      (verb) => `${verb}(?: for)? (?<text>.+?)${PLACE}`,
    ),
    steps: (said) => {
      // Escaped, because the user means plain text, not a regular expression.
      const pattern = said('text').replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      return [single('grep', pattern, said('place') === '' ? {} : { path: said('place') })];
    },
  },
  {
    example: 'how does the login work',
    forms: ['(?:where|how) (?:is|are|do|does|did|can) .+'],
    steps: (said) => [single('codebase_search', said('all'))],
  },
  {
    example: 'create notes.md with "Hello"',
    forms: [
      `${NEW}${FILES} (?<path>${PATH})${WITH}`,
      `${NEW}${FILES} (?<path>${PATH})`,
      `write (?<content>.+?) (?:to|into) (?<path>${PATH})`,
      `${NEW} file(?:${WITH})?`,
    ],
    steps: (said) => [
      said('path') ? write(said('path'), said('content')) : createUnnamed(said('content')),
    ],
  },
  {
    example: 'replace "Hello" with "Good evening" in notes.md',
    forms: ['(?:replace|change) (?<from>.+?) (?:with|by|to) (?<to>.+?) in (?<path>\\S+)'],
    steps: (said) => replace(said('path'), said('from'), said('to')),
  },
  {
    example: 'delete notes.md',
    forms: [`(?:delete|remove)${FILES} ${PATHS}`],
    steps: (_, paths) => paths.map((path) => single('delete_file', path)),
  },
  {
    example: 'run `ls -l`',
    // "Run the tests" names no command, and the demo model guesses none.
    forms: ['(?:run|execute) (?!(?:the|this|that|it|my|all) )(?<command>.+)'],
    steps: (said) => [single('run_terminal_cmd', said('command'))],
  },
  {
    example: 'plan to delete notes.md',
    forms: ['(?:(?:make|create|write) (?:a|the) )?plan(?: to| for)?:?(?: (?<goal>.+))?'],
    steps: (said) => [PLAN_BEGINS, ...parseSteps(said('goal'))],
  },
];

const VERBS =
  'read|show|open|cat|list|ls|find|locate|search|grep|look|create|write|make|add|replace|change|' +
  'delete|remove|run|execute|explain|describe|summari[sz]e|what|where is|how do(?:es)?|plan';
/** A request ends at a line end, a punctuation mark, an "and" or a "then", if a verb follows. */
const SEPARATOR = new RegExp(
  `(?:\\n|[;,.!?]+\\s|\\s(?=(?:and|then)\\s))\\s*(?:(?:and|then|please)\\s+)*(?=(?:${VERBS})\\b)`,
  'i',
);
const OPENING = /^(?:(?:please|can you|could you|first|now|then|and|hi|hello)\b[\s,:!]*)+/i;
/** A full stop ends a sentence only after a word: in `ls .` it is the folder. */
const CLOSING = /(?:,? please| for me)*(?<=[\w/*)\uE000-\uF8FF])[.!?]*\s*$/i;

/** The steps of a message in order. A request that no intent matches is a step too. */
export function parseSteps(message: string): DemoStep[] {
  const { text, restore } = setQuotesAside(message);
  return text
    .split(SEPARATOR)
    .map((request) => request.replace(OPENING, '').replace(CLOSING, '').trim())
    .filter((request) => request !== '')
    .flatMap((request) => parseRequest(request, restore));
}

function parseRequest(request: string, restore: (piece: string) => string): readonly DemoStep[] {
  for (const [form, { steps }] of FORMS) {
    const groups = form.exec(request)?.groups;
    if (!groups) continue;
    const paths = (groups['paths'] ?? '').split(/,?\s+and\s+|,\s+/);
    return steps((group) => restore(groups[group] ?? ''), paths.map(restore));
  }
  return [{ title: restore(request), calls: [] }];
}

const FORMS = INTENTS.flatMap((intent) =>
  intent.forms.map((form) => {
    const pattern = new RegExp(`^(?<all>${form.replaceAll(' ', '\\s+')})$`, 'is');
    return [pattern, intent] as const;
  }),
);

/** A fence, or one of three kinds of quotes. A single quote inside a word is an apostrophe. */
const QUOTED =
  /^[ \t]*(`{3,})[^\n]*\n([\s\S]*?\n)[ \t]*\1[ \t]*$|`([^`\n]+)`|"([^"\n]*)"|(?<!\w)'([^'\n]*)'(?!\w)/gm;
const MARKS = new RegExp(`[${MARK}]`, 'g');
const [FIRST_MARK, LAST_MARK] = [0xe000, 0xf8ff];

/** `restore` puts the quoted parts back. It drops the quotes if the whole piece is one quoted part. */
function setQuotesAside(message: string) {
  const parts: { raw: string; inner: string }[] = [];
  const text = message.replaceAll(MARKS, '').replaceAll(QUOTED, (raw: string, _, ...inner) => {
    const mark = FIRST_MARK + parts.length;
    if (mark > LAST_MARK) return raw;
    parts.push({ raw, inner: inner.slice(0, 4).find((form) => form !== undefined) });
    return String.fromCharCode(mark);
  });
  const partOf = (mark: string) => parts[mark.charCodeAt(0) - FIRST_MARK];
  const restore = (piece: string): string =>
    (piece.length === 1 ? partOf(piece)?.inner : undefined) ??
    piece.replaceAll(MARKS, (mark) => partOf(mark)?.raw ?? '');
  return { text, restore };
}
