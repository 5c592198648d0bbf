/** From plain words to steps: a table of what the demo model understands. */
import { type Clause, splitClauses } from './clauses.ts';
import { isPath, pathOf, placeOf, splitPaths, WHOLE } from './paths.ts';

/** One thing to do. Paths are relative to the workspace. */
export type Step =
  | { readonly type: 'read'; readonly path: string }
  | { readonly type: 'list'; readonly path: string }
  | { readonly type: 'find'; readonly pattern: string; readonly path: string }
  | { readonly type: 'search'; readonly pattern: string; readonly path: string | null }
  /** A question about the code; the pattern is for a search by text, where there is none by meaning. */
  | { readonly type: 'explore'; readonly question: string; readonly pattern: string }
  /** Without content it is a new file of the model's own making. */
  | { readonly type: 'write'; readonly path: string; readonly content: string | null }
  | { readonly type: 'replace'; readonly path: string; readonly from: string; readonly to: string }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'run'; readonly command: string }
  | { readonly type: 'summarise' }
  /** `steps` are laid before the user, after the `looks`: steps of one reading call each. */
  | { readonly type: 'plan'; readonly steps: readonly Step[]; readonly looks: readonly Step[] }
  | { readonly type: 'unknown'; readonly text: string };

/** What was said: a step, or what becomes one only with the tools on offer (intent.ts). */
export type Wish =
  | Exclude<Step, { type: 'plan' }>
  /** A new file whose name was not said. */
  | { readonly type: 'unnamed'; readonly text: string; readonly content: string | null }
  /** What is to be planned, as far as it stands in the same clause; all that follows is too. */
  | { readonly type: 'planning'; readonly wishes: readonly Wish[] };

/** The wishes of a request in order; one that is not understood is one too. */
export function parseSteps(query: string): Wish[] {
  const wishes = splitClauses(query).flatMap(parseClause);
  return wishes.filter((wish, index) => !isSame(wish, wishes[index - 1]));
}

function parseClause(clause: Clause): Wish[] {
  for (const [form, build] of FORMS) {
    const match = form.exec(clause.text);
    const wishes = match && build(match.groups ?? {}, clause);
    if (wishes) return wishes;
  }
  return [{ type: 'unknown', text: clause.raw(clause.text) }];
}

type Groups = Readonly<Record<string, string | undefined>>;
/** Undefined where the words fit but mean something else: the next form is tried. */
type Build = (groups: Groups, clause: Clause) => Wish[] | undefined;

const IN_PLACE = String.raw`(?:\s+(?:in|under|inside|within|of)\s+(?:the\s+|this\s+)?(?:folder\s+|directory\s+|file\s+)?(?<place>\S+?)(?:\s+(?:folder|directory))?)?`;
const THE_FILE = String.raw`(?:the\s+|an?\s+)?(?:new\s+)?(?:empty\s+)?(?<file>file\s+)?(?:called\s+|named\s+)?`;

/** Tried from top to bottom; what is more particular stands above. */
const FORMS: readonly (readonly [RegExp, Build])[] = [
  [form(String.raw`(?:run|execute)\s+(?:the\s+command\s+)?(?<command>.+)`), run],
  [
    form(
      String.raw`(?:plan|(?:create|write|make|give\s+me|draw\s+up)\s+(?:me\s+)?(?:the|a)\s+plan)(?![\w./-])(?:\s+(?:to|for|how\s+to)\b)?\s*:?\s*(?<goal>.*)`,
    ),
    plan,
  ],
  [
    form(
      String.raw`(?:what|explain|describe|summari[sz]e|tell|give|show)\b(?!.*\bfiles?\b).*\s(?:project|workspace|repo|repository|codebase|app|application|overview)(?![\w./-]).*`,
    ),
    () => [{ type: 'summarise' }],
  ],
  [
    form(String.raw`what\s+(?:does|is)\s+(?:this|it)(?:\s+(?:do|about))?`),
    () => [{ type: 'summarise' }],
  ],
  [
    form(
      String.raw`(?:list|ls|show|what)\b(?:\s+(?:me|all|are|is|the|files?|folders?|director(?:y|ies)|contents?|and|entries))*${IN_PLACE}(?:\s+(?:(?:are|is)\s+)?(?:there|here))?`,
    ),
    list,
  ],
  [
    form(
      String.raw`(?:list|ls|(?:show|open)\s+(?:me\s+)?(?:the\s+)?(?:folder|directory))\s+(?:the\s+)?(?:folder\s+|directory\s+)?(?<place>\S+)`,
    ),
    list,
  ],
  [
    form(
      String.raw`(?:find|locate|look\s+for|search\s+for)\s+(?:me\s+)?(?:all\s+|the\s+|every\s+)*(?<before>files?\s+)?(?:named\s+|called\s+|matching\s+|like\s+|ending\s+(?:in|with)\s+)?(?<name>\S+?)(?<after>\s+files?)?${IN_PLACE}`,
    ),
    find,
  ],
  [form(String.raw`grep\s+(?:for\s+)?(?<pattern>.+?)${IN_PLACE}`), grep],
  [
    form(
      String.raw`(?:search|find|locate|look)\s+(?:for\s+)?(?:the\s+(?:text|word|string)\s+)?(?<text>.+?)${IN_PLACE}`,
    ),
    search,
  ],
  [
    form(
      String.raw`where\s+(?:is|are|do\s+we\s+use)\s+(?<text>.+?)(?:\s+(?:used|defined|called))?`,
    ),
    searchName,
  ],
  [
    form(
      String.raw`(?:where|how)\s+(?:is|are|do|does|did|can)\s+(?:(?:the|an?|we|you|i)\s+)?(?<text>.+?)(?:\s+(?:\w+ed|works?|done|made|built|sent|kept|set|found))?`,
    ),
    explore,
  ],
  [
    form(
      String.raw`(?:replace|change)\s+(?:all\s+|every\s+)?(?<from>.+?)\s+(?:with|by|to)\s+(?<to>.+?)\s+in\s+(?:the\s+)?(?:file\s+)?(?<path>\S+)`,
    ),
    replace,
  ],
  [
    form(
      String.raw`in\s+(?<path>\S+?),?\s+(?:replace|change)\s+(?<from>.+?)\s+(?:with|by|to)\s+(?<to>.+)`,
    ),
    replace,
  ],
  [
    form(
      String.raw`(?:create|write|make|add)\s+${THE_FILE}(?<path>[^\s:]+)(?:\s*:\s*|\s+(?:with|containing|that\s+(?:says|contains)|saying)\b:?\s*)(?:(?:the|this|following)\s+)*(?:(?:content|text|contents|code)s?\b:?\s*)?(?<content>.+)`,
    ),
    write,
  ],
  [
    form(
      String.raw`(?:write|put)\s+(?<content>.+?)\s+(?:to|into)\s+(?:the\s+)?(?<file>file\s+)?(?<path>\S+)`,
    ),
    write,
  ],
  [form(String.raw`(?:create|write|make|add)\s+${THE_FILE}(?<path>\S+)`), write],
  [
    form(
      String.raw`(?:create|write|make|add)\s+(?:an?\s+)?(?:new\s+)?(?:empty\s+)?file(?:\s+(?:with|containing)\s+(?<content>.+))?`,
    ),
    writeUnnamed,
  ],
  [form(String.raw`(?:delete|remove)\s+(?:the\s+)?(?<file>files?\s+)?(?<paths>.+)`), remove],
  [
    form(
      String.raw`(?:read|show|open|cat|print|display|view|explain|describe|summari[sz]e|what\s+is\s+in|what's\s+in)\s+(?:me\s+)?(?:what\s+is\s+in\s+)?(?:the\s+)?(?:contents?\s+of\s+)?(?:the\s+)?(?<file>files?\s+)?(?<paths>.+)`,
    ),
    read,
  ],
];

function form(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, 'is');
}

function run({ command = '' }: Groups, clause: Clause): Wish[] | undefined {
  // "Run the tests" names no command, and guessing one is not a planner's business.
  if (/^(?:the|this|that|it|my|all|your)\b/i.test(command)) return undefined;
  return [{ type: 'run', command: clause.value(command) }];
}

/** A lone path is no goal: "write a plan to plan.md" wants a file. */
function plan({ goal = '' }: Groups, clause: Clause): Wish[] | undefined {
  if (isPath(goal)) return undefined;
  const wishes = goal === '' ? [] : parseClause({ ...clause, text: goal });
  return [{ type: 'planning', wishes }];
}

function list({ place }: Groups, clause: Clause): Wish[] | undefined {
  if (place === undefined || WHOLE.test(place)) return [{ type: 'list', path: '.' }];
  return [{ type: 'list', path: pathOf(place, clause) }];
}

function find({ name = '', before, after, place }: Groups, clause: Clause): Wish[] | undefined {
  const files = before ?? after;
  const word = clause.value(name);
  const path = placeOf(place, clause) ?? '.';
  const known = files && GLOB_OF_LANGUAGE[word.toLowerCase()];
  if (known) return [{ type: 'find', pattern: known, path }];
  if (/[*?[{]/.test(word)) return [{ type: 'find', pattern: word, path }];
  if (/^\.\w+$/.test(word)) return [{ type: 'find', pattern: `*${word}`, path }];
  if (/^[\w/-]+(?:\.[\w-]+)+$/.test(word)) return [{ type: 'find', pattern: word, path }];
  return files ? [{ type: 'find', pattern: `*${word}*`, path }] : undefined;
}

const GLOB_OF_LANGUAGE: Readonly<Record<string, string>> = {
  typescript: '*.ts',
  javascript: '*.js',
  python: '*.py',
  markdown: '*.md',
  rust: '*.rs',
  go: '*.go',
  java: '*.java',
  json: '*.json',
  html: '*.html',
  css: '*.css',
};

/** The one form whose text is a regular expression already. */
function grep({ pattern = '', place }: Groups, clause: Clause): Wish[] {
  return [{ type: 'search', pattern: clause.value(pattern), path: placeOf(place, clause) }];
}

function search({ text = '', place }: Groups, clause: Clause): Wish[] {
  const pattern = escapePattern(clause.value(text));
  return [{ type: 'search', pattern, path: placeOf(place, clause) }];
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

/** One word is a name, which stands in the code as it is. */
function searchName(groups: Groups, clause: Clause): Wish[] | undefined {
  return /\s/.test(groups['text'] ?? '') ? undefined : search(groups, clause);
}

function explore({ text = '' }: Groups, clause: Clause): Wish[] {
  if (WHOLE.test(text)) return [{ type: 'summarise' }];
  const pattern = escapePattern(clause.value(text));
  return [{ type: 'explore', question: clause.raw(clause.text), pattern }];
}

function replace({ from = '', to = '', path = '' }: Groups, clause: Clause): Wish[] {
  return [
    {
      type: 'replace',
      path: pathOf(path, clause),
      from: clause.value(from),
      to: clause.value(to),
    },
  ];
}

function write({ path = '', file, content }: Groups, clause: Clause): Wish[] | undefined {
  if (!file && !isPath(path)) return undefined;
  return [{ type: 'write', path: pathOf(path, clause), content: contentOf(content, clause) }];
}

function writeUnnamed({ content }: Groups, clause: Clause): Wish[] {
  return [{ type: 'unnamed', text: clause.raw(clause.text), content: contentOf(content, clause) }];
}

function contentOf(content: string | undefined, clause: Clause): string | null {
  const text = content === undefined ? null : clause.value(content.trim());
  return text === null || text.endsWith('\n') ? text : `${text}\n`;
}

function remove({ paths = '', file }: Groups, clause: Clause): Wish[] | undefined {
  return splitPaths(paths, file, clause)?.map((path) => ({ type: 'delete', path }));
}

function read({ paths = '', file }: Groups, clause: Clause): Wish[] | undefined {
  return splitPaths(paths, file, clause)?.map((path) => ({ type: 'read', path }));
}

function isSame(a: Wish, b: Wish | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
