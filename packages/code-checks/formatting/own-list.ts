/** The owner's choice of formatters: `formatters.json` in the state folder. Without it, none runs. */
import { basename, extname, join } from 'node:path';
import * as z from 'zod';
import { readIfThere } from '../../../machine/private-files.ts';
import { parseIfJson } from '../../../shared/text/json.ts';
import { FORMATTING_LIMITS } from './limits.ts';

const FILE = '{file}';

const Formatter = z.strictObject({
  /** Extensions with their dot. */
  files: z.array(z.string().regex(/^\.[\w.-]+$/)).min(1),
  /** The program and its arguments. `{file}` stands for the file's path in the workspace. */
  command: z.array(z.string().min(1)).min(1),
});

const List = z.strictObject({ formatters: z.array(Formatter) });

/** A formatter of the owner for one file. */
export interface OwnFormatter {
  /** For people and the model. */
  readonly name: string;
  /** The program and its arguments, with the file's path in them. */
  readonly words: readonly string[];
}

/** The first formatter of the list that takes the file. */
export type FormatterChoice =
  | { readonly state: 'chosen'; readonly formatter: OwnFormatter }
  | { readonly state: 'none' }
  | { readonly state: 'unreadable'; readonly reason: string };

/** `file` is relative to the workspace. The list is read anew for each edit, so that a changed one counts at once. */
export async function chooseFormatter(stateDir: string, file: string): Promise<FormatterChoice> {
  const text = await readIfThere(join(stateDir, 'formatters.json')).catch(() => '');
  if (text === undefined) return { state: 'none' };
  const isShort = text.length <= FORMATTING_LIMITS.maxListBytes;
  const { data } = List.safeParse(isShort ? parseIfJson(text) : undefined);
  if (data === undefined) return { state: 'unreadable', reason: WRONG };
  const found = data.formatters.find(({ files }) => files.some((end) => hasEnd(file, end)));
  if (found === undefined) return { state: 'none' };
  const path = file.startsWith('-') ? `./${file}` : file;
  const words = found.command.map((word) => word.replaceAll(FILE, () => path));
  return { state: 'chosen', formatter: { name: nameOf(found.command), words } };
}

/** `.d.ts` is an end of `a.d.ts`, and `.ts` is one as well. A name that is only the end has no extension. */
function hasEnd(file: string, end: string): boolean {
  const name = basename(file);
  return extname(name) !== '' && name.length > end.length && name.endsWith(end);
}

/** The program that formats: `prettier` of `npx --no-install prettier --stdin-filepath {file}`. */
function nameOf(command: readonly string[]): string {
  const names = command.filter((word) => !word.startsWith('-')).map((word) => basename(word));
  return names.find((name) => !RUNNERS.has(name)) ?? basename(command[0] ?? '');
}

/** Programs that start the one that is named after them. */
const RUNNERS = new Set(['npx', 'bunx', 'pnpm', 'yarn', 'exec', 'node', 'uvx', 'uv', 'run', 'env']);

const WRONG =
  'formatters.json in the state folder is not right. Expected: ' +
  '{"formatters": [{"files": [".ts"], "command": ["PROGRAM", "--stdin-filepath", "{file}"]}]}';
