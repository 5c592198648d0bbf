/** A command in the background as a line of a list, and the words about its ports. */
import type { ProcessInfo } from '../../shared/wire/processes.ts';
import { shortLine } from '../terminal/short-line.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Where each open port is. */
export function portWords(ports: NonNullable<ProcessInfo['ports']>): string[] {
  return ports.map(({ port, address }) => `port ${port} at ${shortLine(address)}`);
}

/** A line of a list. */
export function processLine({
  id,
  running,
  started,
  end = '',
  command,
  ports = [],
}: ProcessInfo): string {
  const state = running ? 'runs' : shortLine(end);
  const known = [shortLine(id), `started ${shortLine(started)}`, state, ...portWords(ports)];
  return [...known, shortLine(command)].join('  ');
}

/** The address of an open port on the machine of the process. */
export function addressOf({ ports = [] }: ProcessInfo, port: number): string {
  return shortLine(ports.find((each) => each.port === port)?.address ?? '');
}

/** A port as a person types it. @throws {UsageError} for anything else. */
export function parsePort(typed: string): number {
  const port = Number(typed);
  if (/^\d{1,5}$/.test(typed) && port >= 1 && port <= 65_535) return port;
  throw new UsageError(`A port is a number from 1 to 65535, not ${shortLine(typed)}.`);
}

/** What a person should know of an open port. */
export const OPENED =
  'Every program and every web page on this machine reaches it now, until the process ends or you close it.';

/** Why this machine opens none. */
export const NO_DEVICE = 'Only an enrolled device opens a port, and this machine has none yet.';
