/** Words of the completion scripts that bash and zsh read alike. */
import type { CommandWords } from './tree.ts';

/** One word for a shell, whatever is in it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The pattern of a `case` that knows every command below the program. */
export function stepsOf(commands: readonly CommandWords[]): string {
  return commands
    .slice(1)
    .map(({ path }) => quoted(path))
    .join('|');
}
