/** The log of one bridge: its file, and what a person at its terminal sees of it. */

import { openEventLog } from '../../../local/processes/log-file.ts';
import type { BridgeStatus } from '../../../machine/bridge-status.ts';
import type { LogSink } from '../../../machine/log.ts';
import { printErr } from '../../terminal/print.ts';

export interface BridgeLog {
  /** Writes to the file, and the line to stderr where a person sees it. Never throws. */
  readonly write: LogSink;
  /** Writes to the file alone: the receiver of the status shows it to people. */
  noteStatus(status: BridgeStatus): void;
}

/** `logFile` is shared with the next starts of the same bridge. Each line of it gets `bridgeId`. */
export interface BridgeLogOptions {
  readonly logFile: string;
  readonly bridgeId: string;
  readonly isAtTerminal: boolean;
}

export function openBridgeLog({ logFile, bridgeId, isAtTerminal }: BridgeLogOptions): BridgeLog {
  const note = openEventLog(logFile);
  return {
    write(entry, line) {
      note({ ...entry, bridge: bridgeId });
      if (isAtTerminal && line !== null) printErr(`${line}\n`);
    },
    noteStatus(status) {
      if (status.event === 'index') return; // The bridge writes what matters of it itself.
      note({ event: `bridge_${status.event}`, bridge: bridgeId, message: detailOf(status) });
    },
  };
}

function detailOf(status: Exclude<BridgeStatus, { event: 'index' }>): string {
  switch (status.event) {
    case 'connected':
      return status.confinement.detail;
    case 'disconnected':
      return status.reason;
    default:
      return status.message;
  }
}
