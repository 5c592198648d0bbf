/**
 * `npm run house`: what a reader of the sources meets, as one table. It counts what must be known before a change, and
 * bounds nothing.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Comment, parseSync, Visitor } from 'oxc-parser';
import { sourceFiles } from './source-files.ts';

/** Longer functions are read in parts. */
const MAX_LINES = 40;

const ROOT = join(import.meta.dirname, '..');

/** What one file has. */
interface Measured {
  readonly path: string;
  readonly lines: number;
  /** Lines with something other than comments and blanks. */
  readonly code: number;
  readonly functions: readonly Named[];
  readonly exports: number;
  /** How often each name is called in the file. */
  readonly calls: ReadonlyMap<string, number>;
  readonly text: string;
}

/** A function with a name: declared, bound to a constant, or a method. */
interface Named {
  readonly name: string;
  readonly lines: number;
  readonly isMethod: boolean;
}

function measure(path: string): Measured {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const { program, comments } = parseSync(path, text);
  const lineOf = lineNumbers(text);
  const functions: Named[] = [];
  const calls = new Map<string, number>();
  let exports = 0;
  const add = (name: string, { start, end }: Pick<Comment, 'start' | 'end'>, isMethod = false) =>
    functions.push({ name, lines: lineOf(end) - lineOf(start) + 1, isMethod });
  const visitor = new Visitor({
    FunctionDeclaration: (node) => void (node.id && add(node.id.name, node)),
    VariableDeclarator: ({ id, init }) => {
      const isFunction =
        init?.type === 'ArrowFunctionExpression' || init?.type === 'FunctionExpression';
      if (isFunction && id.type === 'Identifier') add(id.name, init);
    },
    MethodDefinition: ({ key, value }) => {
      const isNamed = key.type === 'Identifier' || key.type === 'PrivateIdentifier';
      if (isNamed) add(key.name, value, true);
    },
    PropertyDefinition: ({ key, value }) => {
      const isNamed = key.type === 'Identifier' || key.type === 'PrivateIdentifier';
      if (isNamed && value?.type === 'ArrowFunctionExpression') add(key.name, value, true);
    },
    CallExpression: ({ callee }) => {
      const called = callee.type === 'MemberExpression' ? callee.property : callee;
      const isNamed = called.type === 'Identifier' || called.type === 'PrivateIdentifier';
      if (isNamed) calls.set(called.name, (calls.get(called.name) ?? 0) + 1);
    },
    ExportNamedDeclaration: ({ declaration, specifiers }) => {
      exports += specifiers.length + (declaration ? namesIn(declaration) : 0);
    },
    ExportDefaultDeclaration: () => {
      exports += 1;
    },
  });
  visitor.visit(program);
  const lines = text.split('\n').length - 1;
  return { path, lines, code: codeLines(text, comments), functions, exports, calls, text };
}

function namesIn(declaration: { readonly type: string; readonly declarations?: object[] }): number {
  return declaration.declarations?.length ?? 1;
}

function lineNumbers(text: string): (offset: number) => number {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => starts.findLastIndex((start) => start <= offset);
}

function codeLines(text: string, comments: readonly Comment[]): number {
  let bare = text;
  for (const { start, end } of [...comments].reverse()) {
    bare = bare.slice(0, start) + bare.slice(start, end).replace(/[^\n]/g, ' ') + bare.slice(end);
  }
  return bare.split('\n').filter((line) => line.trim() !== '').length;
}

/**
 * Features that other rooms know of: their own folders, and the names by which the others speak of them. A pattern
 * finds roughly what a person would.
 */
const FEATURES = {
  'private conversations': {
    own: [],
    names: /deleteAfter|[pP]rivate(?:Listing|Settings)|\bisPrivate\b/,
  },
  worktrees: { own: ['bridge/worktrees'], names: /[wW]orktree/ },
  'offered tools': { own: ['packages/mcp'], names: /\b[oO]ffer(?:s|ed|Set)?\b|OFFER_/ },
  steering: { own: [], names: /[sS]teer/ },
} as const;

function roomsOf({ own, names }: { own: readonly string[]; names: RegExp }, files: Measured[]) {
  const rooms = files
    .filter(({ text }) => names.test(text))
    .map(({ path }) => dirname(path))
    .filter((room) => !own.some((folder) => room === folder || room.startsWith(`${folder}/`)));
  return new Set(rooms).size;
}

/** The rooms that a message passes, by the list of docs/architecture.md. */
function messageRooms(): { stays: number; returns: number } {
  const document = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, part = ''] = document.split('\n## A message\n');
  const [list = ''] = part.split('\n## ');
  const rooms = Array.from(list.matchAll(/`([\w-]+(?:\/[\w.-]+)+)`/g), ([, path = '']) =>
    dirname(path),
  );
  const stays = rooms.filter((room, at) => room !== rooms[at - 1]);
  return { stays: stays.length, returns: stays.length - new Set(stays).size };
}

const files = sourceFiles().map((path) => measure(path.replaceAll('\\', '/')));
const sum = (of: (file: Measured) => number, among = files) =>
  among.reduce((total, file) => total + of(file), 0);
const code = sum((file) => file.code);
const functions = files.flatMap((file) => file.functions);
const callsOf = new Map<string, number>();
for (const { calls } of files)
  for (const [name, count] of calls) callsOf.set(name, (callsOf.get(name) ?? 0) + count);
const once = functions.filter(({ name }) => callsOf.get(name) === 1).length;
const long = functions.filter(({ lines }) => lines > MAX_LINES).length;
const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
const core = files.filter(({ path }) => /^(worker|bridge)\//.test(path));
const { stays, returns } = messageRooms();

const rows: readonly (readonly [string, string | number])[] = [
  ['files', files.length],
  ['lines', sum((file) => file.lines)],
  ['lines of code', code],
  ['lines of worker and bridge', sum((file) => file.lines, core)],
  ['named functions', functions.length],
  ['named functions per 1,000 lines of code', ((1000 * functions.length) / code).toFixed(1)],
  ['called once', percent(once, functions.length)],
  ['longer than 40 lines', percent(long, functions.length)],
  ['exports per 1,000 lines of code', ((1000 * sum((file) => file.exports)) / code).toFixed(1)],
  ...Object.entries(FEATURES).map(
    ([name, feature]) => [`rooms that know of ${name}`, roomsOf(feature, files)] as const,
  ),
  ['rooms that a message stays in', stays],
  ['rooms that it returns to', returns],
];

for (const [name, value] of rows) process.stdout.write(`${name.padEnd(44)}${value}\n`);
