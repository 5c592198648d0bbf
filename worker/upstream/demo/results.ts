/** Reading what tools answer: they write for a model, so this looks for the little it needs and bears the rest. */

export interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

/** The lines of a file as `read_file` gives them: `N|text`. Notes beside them are left out. */
export function numberedLines(text: string): NumberedLine[] {
  return text.split('\n').flatMap((line) => {
    const parts = /^\s*(\d+)\|(.*)$/.exec(line);
    return parts ? [{ number: Number(parts[1]), text: parts[2] ?? '' }] : [];
  });
}

/** A listing, a search or an output, and the sentence in parentheses that the tool may put under it. */
export interface Listing {
  readonly lines: readonly string[];
  /** Without its parentheses; empty where there is none. */
  readonly note: string;
}

export function readListing(text: string): Listing {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const note = /^\((.*)\)$/.exec(lines.at(-1) ?? '')?.[1];
  return note === undefined ? { lines, note: '' } : { lines: lines.slice(0, -1), note };
}

/** Lines of a file that a search shows. */
export interface Passage {
  /** `path:first-last` */
  readonly place: string;
  readonly path: string;
  readonly lines: readonly NumberedLine[];
}

/** What `codebase_search` found, the best first. */
export function readPassages(text: string): Passage[] {
  return text.split('\n\n').flatMap((block) => {
    const [, place = '', path = ''] = /^((.+):\d+-\d+)\n/.exec(block) ?? [];
    return place === '' ? [] : [{ place, path, lines: numberedLines(block) }];
  });
}

/** What a command came to, as `run_terminal_cmd` tells it: how it ended, some notes, its output. */
export interface CommandEnd {
  /** Its first line: `Exit code: 0`, or a sentence where there is no code. */
  readonly ending: string;
  readonly succeeded: boolean;
  readonly output: readonly string[];
}

export function readCommandEnd(text: string): CommandEnd {
  const ending = text.split('\n', 1)[0] ?? '';
  const printed = text.indexOf(OUTPUT);
  const output = printed < 0 ? '' : text.slice(printed + OUTPUT.length);
  return {
    ending,
    succeeded: /^(?:Exit code: 0$|It runs on\b)/.test(ending),
    output: output.split('\n').filter((line) => line.trim() !== ''),
  };
}

const OUTPUT = '\nOutput:\n';

/** What went wrong, out of `Error CODE: message`. */
export function errorOf(text: string): { code: string; message: string } {
  const parts = /^Error(?: ([A-Z_]+))?:\s*([\s\S]*)$/.exec(text);
  return { code: parts?.[1] ?? '', message: (parts?.[2] ?? text).trim() };
}
