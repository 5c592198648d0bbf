/** The option `--port` of the commands that start a server. */
import { InvalidArgumentError } from 'commander';

const MAX_PORT = 65_535;

/** The help of `--port`. It has no default of its own: config.json may have one. */
export const PORT_HELP = 'the port of the API; 0 for any free port (default: 8787)';

/** For an option that takes a port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MAX_PORT) return port;
  throw new InvalidArgumentError(`A port is a number from 0 to ${MAX_PORT}.`);
}
