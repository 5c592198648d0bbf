/** The folder and the variables that a conversation's commands hand on to its later ones, as in a terminal. */
import { statSync } from 'node:fs';
import { listed } from '../../../machine/result-lines.ts';
import { shellWord } from '../../../machine/shell-word.ts';
import { TERMINAL_LIMITS } from './limits.ts';
import type { ShellReport, Variables } from './shell-report.ts';

/** What a command begins with. A call keeps the one that it was read with: that is what people and rules see. */
export interface ShellSession {
  /** Absolute; undefined for the workspace itself. */
  readonly folder: string | undefined;
  /** Against those of any command; null for one that is unset. */
  readonly variables: Variables;
}

const FRESH: ShellSession = { folder: undefined, variables: new Map() };

/** In memory: the next bridge begins with fresh sessions. */
export class ShellSessions {
  /** By their conversations, the one used last at the end. */
  readonly #sessions = new Map<string, ShellSession>();

  of(conversationId: string): ShellSession {
    const session = this.#sessions.get(conversationId) ?? FRESH;
    const { folder } = session;
    // Deleted or replaced since: then no later command could begin.
    const isGone = folder !== undefined && statSync(folder, IF_ANY)?.isDirectory() !== true;
    return isGone ? { ...session, folder: undefined } : session;
  }

  /**
   * Takes over what a command has left that began with `began`; `folder` is where a later one can begin. Variables that
   * cannot be handed on stay as they were, and `unkept` is a sentence about them.
   */
  take(
    conversationId: string,
    began: ShellSession,
    report: ShellReport,
    folder: string | undefined,
  ): { readonly session: ShellSession; readonly unkept: string | undefined } {
    const { variables, unkept } = handedOn(began.variables, report);
    const session = { folder, variables };
    this.#sessions.delete(conversationId);
    this.#sessions.set(conversationId, session);
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined && this.#sessions.size > TERMINAL_LIMITS.maxSessions)
      this.#sessions.delete(oldest);
    return { session, unkept };
  }
}

function handedOn(
  before: Variables,
  { variables, unreadable }: ShellReport,
): { readonly variables: Variables; readonly unkept: string | undefined } {
  if (variables === undefined) return { variables: before, unkept: UNLISTED };
  const old = unreadable.flatMap((name): [string, string | null][] => {
    const value = before.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const after = new Map([...variables, ...old]);
  const isFitting = linesOf(after).length <= TERMINAL_LIMITS.maxSessionChars;
  if (!isFitting) {
    const changed = [...after].flatMap(([name, to]) => (before.get(name) === to ? [] : [name]));
    const why = `together they have more than ${TERMINAL_LIMITS.maxSessionChars} characters`;
    return { variables: before, unkept: notKept([...changed, ...unreadable], why) };
  }
  const unkept =
    unreadable.length > 0 ? notKept(unreadable, 'the values are no text in UTF-8') : undefined;
  return { variables: after, unkept };
}

const UNLISTED =
  'No exported variable is kept for your next command: its shell could not list them. A value of 128 KiB, ulimit, ' +
  'LD_LIBRARY_PATH, or no PATH does that.';

/** The values may be secrets. */
function notKept(names: readonly string[], why: string): string {
  return `Not kept for your next command: ${listed([...new Set(names)].sort())}: ${why}.`;
}

const IF_ANY = { throwIfNoEntry: false } as const;

/**
 * A command line as it really runs: with the session's variables in front, in words of the shell. Rules and people read
 * the same line.
 */
export function lineIn({ variables }: ShellSession, command: string): string {
  return `${linesOf(variables)}${command}`;
}

function linesOf(variables: Variables): string {
  const names = [...variables.keys()].sort();
  const given = names.flatMap((name) => {
    const value = variables.get(name);
    return typeof value === 'string' ? [`${name}=${shellWord(value)}`] : [];
  });
  const gone = names.filter((name) => variables.get(name) === null);
  return [
    ...(given.length > 0 ? [`export ${given.join(' ')}\n`] : []),
    ...(gone.length > 0 ? [`unset ${gone.join(' ')}\n`] : []),
  ].join('');
}
