/** The option `--port` of the commands that start a server. */
import { wholeNumber } from '../terminal/whole-number.ts';

/** The help of `--port`. It has no default of its own: config.json may have one. */
export const PORT_HELP = 'the port of the API; 0 for any free port (default: 8787)';
export const parsePort = wholeNumber(0, 65_535);
