/** How the demo model calls the tools and reports their results. */

/** A call by its canonical name and arguments, as in shared/tools/. */
export interface DemoCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Result {
  readonly call: DemoCall;
  readonly text: string;
  /** Null if the tool reported no error. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** An error, or a command whose exit code is not 0. */
  readonly failed: boolean;
}

/** Lines quoted of a result, and UTF-16 units quoted of an error. The call's own document shows the rest. */
const LIMITS = { maxQuotedLines: 12, maxErrorChars: 400 } as const;

/** The words for a call, and the name of its main argument. */
const SPOKEN: Readonly<Record<string, readonly [word: string, of: string]>> = {
  read_file: ['read', 'target_file'],
  list_dir: ['list', 'target_directory'],
  glob_file_search: ['look for', 'glob_pattern'],
  grep: ['search for', 'pattern'],
  codebase_search: ['look into', 'query'],
  write: ['write', 'path'],
  str_replace: ['change', 'file_path'],
  delete_file: ['delete', 'target_file'],
  run_terminal_cmd: ['run', 'command'],
  create_plan: ['lay out', 'name'],
};

/** `about` becomes the tool's main argument. */
export function newCall(name: string, about: string, more: DemoCall['arguments'] = {}): DemoCall {
  return { name, arguments: { [SPOKEN[name]?.[1] ?? '']: about, ...more } };
}

/** A call in words that fit after "I'll" and "I could not". */
export function doing({ name, arguments: args }: DemoCall): string {
  const [word, of] = SPOKEN[name] ?? ['call', ''];
  return `${word} ${code(String(args[of]))}`;
}

/** How a result begins if it is good, of tools that report no error for a bad one. */
const GOOD: Readonly<Record<string, RegExp>> = {
  run_terminal_cmd: /^(?:Exit code: 0\n|It runs on\b)/,
  ask_question: /\n-> /,
};

/** Failed results begin as in worker/conversation/memory/window/results.ts. */
export function readResult(call: DemoCall, text: string): Result {
  const parts = /^Error(?: ([A-Z_]+))?:\s*([\s\S]*)$/.exec(text);
  const error = parts && {
    code: parts[1] ?? '',
    message: parts[2]?.trim() || 'no reason was given',
  };
  const good = GOOD[call.name];
  return { call, text, error, failed: error !== null || good?.test(text) === false };
}

/** Reports a result by its first lines. */
export function report({ call, text, error, failed }: Result): string {
  if (error) {
    const reason = cut(error.message, LIMITS.maxErrorChars);
    return `I could not ${doing(call)}: ${reason}${error.code && ` (${error.code})`}`;
  }
  if (call.name === 'read_file') return reportFile(String(call.arguments['target_file']), text);
  if (call.name === 'run_terminal_cmd')
    return reportCommand(String(call.arguments['command']), text);
  if (call.name === 'ask_question') return failed ? 'Without an answer I leave it at that.' : '';
  if (call.name === 'create_plan') return 'That is the plan. Ask for the same in agent mode.';
  return text.includes('\n') ? quote(text) : text;
}

/** Quotes lines of `read_file`, which come numbered as `N|text`, as a code reference with line numbers. */
function reportFile(path: string, text: string): string {
  const lines = [...text.matchAll(/^\s*(\d+)\|(.*)$/gm)];
  const shown = lines.slice(0, LIMITS.maxQuotedLines);
  const reference = `${shown[0]?.[1]}:${shown.at(-1)?.[1]}:${path}`;
  const quoted = fence(reference, shown.map(([, , line]) => line).join('\n'));
  const count = lines.length === 1 ? '1 line' : `${lines.length} lines`;
  return lines.length > 0
    ? `I read ${count} of ${code(path)}:\n\n${quoted}`
    : `${code(path)}: ${text}`;
}

/** The result's first line says how the command ended. Notes follow, then the output. */
function reportCommand(command: string, text: string): string {
  const [ending = ''] = text.split('\n', 1);
  const ended = ending.replace(/^Exit code: (-?\d+)$/, ' ended with exit code $1.');
  const output = /\nOutput:\n([\s\S]*)$/.exec(text)?.[1]?.trimEnd();
  const printed = output ? `It printed:\n\n${quote(output)}` : 'It printed nothing.';
  const needs = /\n(It changes \.git, which needs .*?):/.exec(text)?.[1] ?? '';
  return `${code(command)}${ended === ending ? `: ${ending}` : ended} ${printed}${needs && `\n\n${needs}.`}`;
}

function quote(text: string): string {
  const lines = text.split('\n');
  const more = lines.splice(LIMITS.maxQuotedLines).length;
  return fence('text', [...lines, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n'));
}

/** Code inside a sentence. */
export function code(text: string): string {
  const quotes = '`'.repeat(longestRun(text) + 1);
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${quotes}${space}${text.replaceAll('\n', ' ')}${space}${quotes}`;
}

/** Text between fences longer than any run of backticks in it. */
function fence(info: string, content: string): string {
  const marks = '`'.repeat(Math.max(3, longestRun(content) + 1));
  return `${marks}${info}\n${content}\n${marks}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** The first `maxChars` UTF-16 units. A split surrogate pair at the end becomes U+FFFD. */
export function cut(text: string, maxChars: number): string {
  return text.slice(0, maxChars).toWellFormed();
}

/** "a, b and c" */
export function joined(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}
