/** Answers a person's question about the processes of a bridge. */

import { ToolFailure } from '../../machine/failure.ts';
import { logTrouble } from '../../machine/log.ts';
import {
  type CommandEnd,
  type KnownProcess,
  type ProcessBook,
  stopProcess,
} from '../../packages/sandbox/index.ts';
import { PROCESS_REPORT_LIMITS } from '../../shared/limits.ts';
import { plainOutput } from '../../shared/shown/terminal-lines.ts';
import { inOneLine, printableLine, shorten } from '../../shared/text/plain-sight.ts';
import type { ProcessAsk, ProcessInfo, ProcessReport } from '../../shared/wire/processes.ts';
import { describeEnd } from '../commands/command-result.ts';
import type { OpenPorts } from './open-ports.ts';

/** Does what is asked first. A port that is not opened is no failure of the list. Does not reject. */
export async function reportProcesses(
  book: ProcessBook,
  ports: OpenPorts,
  { stop, port }: ProcessAsk,
): Promise<ProcessReport> {
  const refused = port && (await changePort(ports, port));
  const named = stop ?? port?.processId;
  const listed = await listProcesses(book, { stop, first: named });
  const items = listed.map((item) => {
    const open = ports.of(item.id);
    return open.length > 0 ? { ...item, ports: open } : item;
  });
  return { items, ...(refused !== undefined && { refused }) };
}

async function changePort(
  ports: OpenPorts,
  port: NonNullable<ProcessAsk['port']>,
): Promise<string | undefined> {
  try {
    await ports.change(port);
    return undefined;
  } catch (error) {
    if (error instanceof ToolFailure) return shortened(error.message);
    logTrouble({ event: 'process_port_failed' }, 'A port could not be changed', error);
    return 'The port could not be changed: see the log of the bridge.';
  }
}

/**
 * `first`, then the running ones, then the newest. Before it lists them, stops the one that `stop` names, whatever its
 * conversation.
 */
async function listProcesses(
  book: ProcessBook,
  { stop, first }: { readonly stop?: string | undefined; readonly first?: string | undefined },
): Promise<ProcessInfo[]> {
  const named = stop === undefined ? undefined : book.get(stop);
  if (named) await stopProcess(named, 'person');
  const all = book.all.reverse();
  const isNamed = ({ id }: KnownProcess) => id === first;
  const isRunning = ({ state }: KnownProcess) => state.state === 'running';
  const places = [isNamed, isRunning, () => true];
  const placeOf = (process: KnownProcess) => places.findIndex((is) => is(process));
  const sorted = all.sort((one, other) => placeOf(one) - placeOf(other));
  return sorted.slice(0, PROCESS_REPORT_LIMITS.maxProcesses).map(toInfo);
}

function toInfo(process: KnownProcess): ProcessInfo {
  const { id, conversationId, startedAtMs, state, ...about } = process;
  const running = state.state === 'running';
  const lastLine = running ? lastLineOf(process) : '';
  return {
    id,
    conversationId,
    command: shortened(about.title),
    folder: shortened(about.folder),
    running,
    started: new Date(startedAtMs).toISOString(),
    ...(state.state === 'ended' && endOf(state.end)),
    ...(lastLine !== '' && { lastLine }),
  };
}

function endOf(end: CommandEnd): Pick<ProcessInfo, 'end' | 'exitCode'> {
  const { text } = describeEnd(end);
  if (end.state === 'exited') return { end: text, exitCode: end.exitCode };
  // The other words are the model's, which has done it.
  const isByAgent = end.state === 'stopped' && end.reason === 'agent';
  return { end: isByAgent ? 'The agent stopped it.' : shortened(text) };
}

/** Without colours and control characters. */
function lastLineOf({ output }: KnownProcess): string {
  const { maxTextChars } = PROCESS_REPORT_LIMITS;
  const { text } = output.read(-maxTextChars, maxTextChars);
  const lines = plainOutput(text).trimEnd().split('\n');
  return printableLine(lines.at(-1) ?? '', maxTextChars);
}

/** In one line, as long as a list holds it. */
function shortened(text: string): string {
  return shorten(inOneLine(text), PROCESS_REPORT_LIMITS.maxTextChars);
}
