/** The processes of a bridge for people, on any device. */
import { PROCESS_REPORT_LIMITS } from '../../shared/limits.ts';
import { inOneLine, shorten } from '../../shared/text/plain-sight.ts';
import type { ProcessInfo } from '../../shared/wire/processes.ts';
import { type KnownProcess, type ProcessBook, stopProcess } from '../terminal/process-book.ts';
import { describeEnd } from './command-result.ts';

/**
 * `first`, then the running ones, then the newest. Before it lists them, stops the one that `stop` names, whatever its
 * conversation.
 */
export async function listProcesses(
  book: ProcessBook,
  { stop, first }: { readonly stop?: string | undefined; readonly first?: string | undefined },
): Promise<ProcessInfo[]> {
  const named = stop === undefined ? undefined : book.get(stop);
  if (named) await stopProcess(named, 'person');
  const all = book.list().reverse();
  const isNamed = ({ id }: KnownProcess) => id === first;
  const isRunning = ({ state }: KnownProcess) => state.state === 'running';
  const places = [isNamed, isRunning, () => true];
  const placeOf = (process: KnownProcess) => places.findIndex((is) => is(process));
  const sorted = all.sort((one, other) => placeOf(one) - placeOf(other));
  return sorted.slice(0, PROCESS_REPORT_LIMITS.maxProcesses).map(toInfo);
}

function toInfo({ id, conversationId, startedAtMs, state, ...about }: KnownProcess): ProcessInfo {
  const running = state.state === 'running';
  return {
    id,
    conversationId,
    command: shortened(about.title),
    folder: shortened(about.folder),
    running,
    started: new Date(startedAtMs).toISOString(),
    ...(state.state === 'ended' && { end: shortened(describeEnd(state.end).text) }),
  };
}

/** In one line, as long as a list holds it. */
export function shortened(text: string): string {
  return shorten(inOneLine(text), PROCESS_REPORT_LIMITS.maxTextChars);
}
