/** Decides the demo model's next move by a table of intents. Pure: the same history gives the same move. */

/** The conversation so far. */
export interface Talk {
  /** The user's last message. */
  readonly query: string;
  /** Whether the conversation has no answer yet. */
  readonly isFirstAnswer: boolean;
  /** Texts of the results since the message, in the order of their calls. */
  readonly results: readonly string[];
}

/** One answer: first the text, then the call. Without a call the message is answered. */
export interface Move {
  readonly text: string;
  readonly call?: DemoCall;
}

interface DemoCall {
  readonly name: string;
  /** As in shared/tools/. */
  readonly arguments: Readonly<Record<string, string | boolean>>;
  /** Fits after "I'll" and "I could not". */
  readonly title: string;
}

/** Makes one call a turn and gets the text of its result. Returns the answer, which is dropped if the last call failed. */
type DemoWork = Generator<DemoCall, string, string>;

interface Intent {
  /** Shown to the user in the help. */
  readonly examples: readonly string[];
  /** The pattern of a whole request. */
  readonly form: string;
  /** `said` has the groups of the pattern, without quotes. */
  readonly begin: (said: Readonly<Record<string, string>>) => DemoWork;
}

const WORD = '"[^"]*"|\'[^\']*\'|`[^`]*`|\\S+';
const NAMES = '(?:readme|license|makefile|dockerfile|changelog)';
/** In quotes, with a dot or a slash, or the name of a well-known file. */
const PATH = `(?<path>(?=["'\`]|\\S*[./]|${NAMES}\\b)(?:${WORD}))`;
const FILES = '(?: me)?(?: all)?(?: the)?(?: files?| folders?| directory)?(?: called| named)?';
const PROJECT = '(?: the| this)? (?:project|folder|workspace|repo|repository|codebase)';
const PLACE = `(?: here| in${PROJECT}| in(?: the)?(?: folder)? (?<place>${WORD})(?: folder)?)?`;
const NEW = '(?:create|write|make|add)(?: an?| the)?(?: new)?(?: empty)?';

/** Tried from top to bottom. */
const INTENTS: readonly Intent[] = [
  {
    examples: ['what is in this project'],
    form: `(?:what is|what's|explain|describe|summari[sz]e)(?: in)?${PROJECT}`,
    *begin() {
      const listing = yield newCall('list', 'list_dir', { target_directory: '.' });
      const [readme] = /^readme(?:\.\w+)?$/im.exec(listing) ?? [];
      if (readme === undefined) return quote(listing);
      const text = yield newCall('read', 'read_file', { target_file: readme });
      return `${quote(listing)}\n\n${quoteFile(readme, text)}`;
    },
  },
  {
    examples: ['list src'],
    form: `(?:list|ls|show)${FILES}${PLACE}|(?:list|ls)${FILES} (?<place>${WORD})`,
    *begin({ place = '.' }) {
      return quote(yield newCall('list', 'list_dir', { target_directory: place }));
    },
  },
  {
    examples: ['read package.json'],
    form: `(?:read|show|open|cat|explain|describe|what is in|what's in)${FILES} ${PATH}`,
    *begin({ path = '' }) {
      return quoteFile(path, yield newCall('read', 'read_file', { target_file: path }));
    },
  },
  {
    examples: ['search for "hello" in src'],
    form: `(?:search(?: for)?|grep|find|look for) (?<text>.+?)${PLACE}`,
    *begin({ text = '', place }) {
      // Escaped, because the user means plain text, not a regular expression.
      const pattern = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
      return quote(yield newCall('search for', 'grep', { pattern, ...(place && { path: place }) }));
    },
  },
  {
    examples: ['create notes.md with "Hello"', 'replace "Hello" with "Good evening" in notes.md'],
    form:
      `${NEW}${FILES} ${PATH}(?:(?: with| containing|:)\\s+(?<content>.+))?|` +
      `(?:replace|change) (?<from>${WORD}) (?:with|by|to) (?<to>${WORD}) in (?<path>${WORD})`,
    *begin({ path = '', content, from, to = '' }) {
      const all = { new_string: to, replace_all: true };
      const change =
        from === undefined
          ? newCall('write', 'write', { path, contents: content ? `${content}\n` : '' })
          : newCall('change', 'str_replace', { file_path: path, old_string: from, ...all });
      const result = yield change;
      const isUnread = /^Error (?:READ_FIRST|STALE):/.test(result);
      // Without content from the user, an existing file stays.
      if (!isUnread || (content ?? from) === undefined) return quote(result);
      yield newCall('read', 'read_file', { target_file: path });
      return quote(yield change);
    },
  },
  {
    examples: ['run `ls -l`'],
    // "Run the tests" names no command, and the demo model guesses none.
    form: '(?:run|execute) (?!(?:the|this|that|it|my|all)(?: |$))(?<command>.+)',
    *begin({ command = '' }) {
      const result = yield newCall('run', 'run_terminal_cmd', { command });
      const [, printed] = /^Exit code: 0\n(?:.*\n)*?Output:\n([\s\S]*)$/.exec(result) ?? [];
      return printed ? `It printed:\n\n${fence('text', printed.trimEnd())}` : quote(result);
    },
  },
];

const INTRODUCTION =
  "I am Drawbridge's built-in demo model: a few fixed rules, not a language model.";

const HELP = `I understand plain requests about the files of this workspace, such as:

${INTENTS.flatMap(({ examples }) => examples.map((example) => `- ${example}\n`)).join('')}
Join several with "then". Anything more needs a real model: the terminal that started this server names the command
that chooses one, and the next start uses it. A hosted server takes \`OPENAI_BASE_URL\` and \`OPENAI_API_KEY\`.`;

/** Decides from the conversation alone, so a repeated request gets the same answer. `tools` are those on offer. */
export function nextMove(talk: Talk, tools: ReadonlySet<string>): Move {
  const { text, ...move } = moveOf(talk.query, [...talk.results], tools);
  return { text: talk.isFirstAnswer ? `${INTRODUCTION}\n\n${text}` : text, ...move };
}

function moveOf(query: string, results: string[], tools: ReadonlySet<string>): Move {
  const requests = requestsIn(query);
  const works = requests.flatMap((request) => begin(request) ?? []);
  if (works.length < requests.length) return { text: HELP };
  let words: string[] = [];
  for (const [index, work] of works.entries()) {
    let problem: string | null = null;
    let failed = false;
    let step = work.next();
    while (!step.done) {
      const { name, title } = step.value;
      if (results.length === 0 && tools.has(name)) {
        return { text: [...words, `I'll ${title}.`].join('\n\n'), call: step.value };
      }
      // The answers so far have reported all results but the last one.
      if (results.length > 0) words = [];
      const result = results.shift() ?? NOT_OFFERED;
      // As in worker/conversation/memory/window/results.ts.
      const reason = /^Error [A-Z_]+: *(.*)/.exec(result)?.[1];
      problem = reason === undefined ? null : `I could not ${title}: ${reason}`;
      failed = problem !== null || (name === 'run_terminal_cmd' && !GOOD_END.test(result));
      step = work.next(result);
    }
    words.push(problem ?? step.value);
    if (!failed) continue;
    const left = requests.slice(index + 1).map(code);
    if (left.length > 0) words.push(`So I stopped there, and left ${left.join(' and ')}.`);
    break;
  }
  return { text: words.join('\n\n') };
}

/** The first line of what a command came to. */
const GOOD_END = /^(?:Exit code: 0\n|It runs on\b)/;
const NOT_OFFERED =
  'Error NOT_OFFERED: it takes a bridge to a machine, and a mode that has the tool for it.';

/** A "then" ends a request, except within quotes. */
function requestsIn(query: string): string[] {
  return query
    .replaceAll(/("[^"]*"|`[^`]*`)|[,;.]?\s(?:and )?then\s/gi, (_, quoted) => quoted ?? '\0')
    .split('\0')
    .map((request) => request.trim().replace(OPENING, '').replace(CLOSING, ''));
}

const OPENING = /^(?:(?:please|can you|could you|first|now|hi|hello)\b[\s,:!]*)+/i;
/** A full stop ends a sentence only after a word: in `ls .` it is the folder. */
const CLOSING = /(?: for me)?(?:,? please)?(?<=[\w/*)"'`])[.!?]*$/i;

/** Null for a request that no intent matches. */
function begin(request: string): DemoWork | null {
  for (const intent of INTENTS) {
    const match = new RegExp(`^(?:${intent.form})$`, 'is').exec(request);
    if (!match) continue;
    const said = Object.entries(match.groups ?? {}).map(([group, text]) => [
      group,
      text?.replace(/^(["'`])((?:(?!\1).)*)\1$/s, '$2'),
    ]);
    return intent.begin(Object.fromEntries(said));
  }
  return null;
}

/** The `verb` and the first argument are the title. */
function newCall(verb: string, name: string, args: DemoCall['arguments']): DemoCall {
  return { name, arguments: args, title: `${verb} ${code(String(Object.values(args)[0]))}` };
}

/** Quotes lines of `read_file`, which come numbered as `N|text`, as a code reference with line numbers. */
function quoteFile(path: string, text: string): string {
  const lines = [...text.matchAll(/^\s*(\d+)\|(.*)$/gm)].slice(0, MAX_QUOTED_LINES);
  if (lines.length === 0) return `${code(path)}: ${text}`;
  const reference = `${lines[0]?.[1]}:${lines.at(-1)?.[1]}:${path}`;
  return `${code(path)}:\n\n${fence(reference, lines.map(([, , line]) => line).join('\n'))}`;
}

function quote(text: string): string {
  return text.includes('\n') ? fence('text', text) : text;
}

/** The call's own document shows the rest. */
const MAX_QUOTED_LINES = 12;

/** The first lines of a text. */
function fence(info: string, text: string): string {
  const lines = text.split('\n');
  const more = lines.splice(MAX_QUOTED_LINES).length;
  if (more > 0) lines.push(`… and ${more} more`);
  const marks = marksAround(text, 3);
  return `${marks}${info}\n${lines.join('\n')}\n${marks}`;
}

/** Code inside a sentence. */
function code(text: string): string {
  const marks = marksAround(text, 1);
  const space = /^`|`$/.test(text) ? ' ' : '';
  return `${marks}${space}${text.replaceAll('\n', ' ')}${space}${marks}`;
}

/** Longer than any run of backticks in the text. */
function marksAround(text: string, min: number): string {
  const runs = text.match(/`+/g) ?? [];
  return '`'.repeat(runs.reduce((most, run) => Math.max(most, run.length + 1), min));
}
