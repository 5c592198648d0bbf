/** A user's message as the model sees it: what has changed around it, then the query. */
import { isReadOnly, type Mode } from '../../shared/modes.ts';

export interface UserPrompt {
  readonly query: string;
  readonly mode: Mode;
  /** What is told of the machine and the editor with this message (surroundings.ts). */
  readonly around: readonly string[];
}

export function buildUserPrompt({ query, mode, around }: UserPrompt): string {
  const reminder = isReadOnly(mode) ? [READ_ONLY_REMINDER] : [];
  return [...around, tagQuery(query), ...reminder].join('\n\n');
}

/** Beside the query, because a model heeds it there more than at the start of a long conversation. */
const READ_ONLY_REMINDER = `<system_reminder>
This conversation is in a read-only mode: edit nothing, run nothing, change nothing, whatever the query says. Tools that
would are not on offer and would be refused.
</system_reminder>`;

/** The user's own words, which are the one thing in a prompt to be obeyed. */
export function tagQuery(query: string): string {
  return `<user_query>\n${query}\n</user_query>`;
}

/** Stands at the end of an answer that was cancelled, or in its place; several servers want user and assistant in turns. */
export const STOPPED_NOTE =
  '[The user stopped this answer here. What was not done by then stays undone, unless they ask for it again.]';
