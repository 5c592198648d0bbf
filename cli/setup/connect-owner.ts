/** Who started `drawbridge connect`, hears how it fares and says when it ends: a person, or `drawbridge up`. */

import { LOCAL_LIMITS } from '../../local/limits.ts';
import type { BridgeStatus } from '../../machine/bridge-status.ts';
import { inOneLine } from '../../shared/plain-sight.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';

export interface Owner {
  /** Aborts when the bridge is to end. */
  readonly signal: AbortSignal;
  tell(status: BridgeStatus): void;
  /** For a person: one line. */
  warn(line: string): void;
  /** The bridge has ended. */
  leave(): void;
}

/** Only `up` starts it with an IPC channel. */
export function findOwner(): Owner {
  return process.send ? newUpOwner() : newTerminalOwner();
}

function newTerminalOwner(): Owner {
  let isAway = false;
  return {
    signal: abortOnInterrupt(),
    tell: (status) => {
      if (status.event === 'refused' || status.event === 'failed') process.exitCode = 1;
      const back = isAway && status.event === 'connected' ? 'The bridge is back. ' : '';
      isAway = status.event === 'disconnected';
      process.stderr.write(`${inOneLine(`${back}${describe(status)}`)}\n`);
    },
    warn: (line) => void process.stderr.write(`${inOneLine(line)}\n`),
    leave: () => {},
  };
}

function describe(status: BridgeStatus): string {
  switch (status.event) {
    case 'connected':
      return `Connected. Commands: ${status.confinement.kind}. ${status.confinement.detail}`;
    case 'disconnected':
      return `The connection was lost (${status.reason}); trying again.`;
    case 'refused':
    case 'failed':
      return `drawbridge: ${status.message}`;
  }
}

/** It tells us to end by SIGTERM; when it was killed and cannot, the channel's end says so. */
function newUpOwner(): Owner {
  const ending = new AbortController();
  process.on('SIGTERM', () => ending.abort());
  const endAlone = () => {
    ending.abort();
    // Nobody is left who would kill a bridge that does not end.
    setTimeout(() => process.exit(1), LOCAL_LIMITS.bridgeGraceMs).unref();
  };
  process.once('disconnect', endAlone);
  // Killed while this process was starting: nothing is said of it any more.
  if (!process.connected) endAlone();
  // A terminal sends these to every process in it. Ours is to wait for `up`, which would start us again otherwise.
  for (const name of ['SIGINT', 'SIGHUP']) process.on(name, () => {});
  return {
    signal: ending.signal,
    tell: (status) => {
      if (status.event === 'failed') process.exitCode = 1;
      if (process.connected) process.send?.(status);
    },
    // `up` watches the same things and says so itself.
    warn: () => {},
    leave: () => {
      if (process.connected) process.disconnect();
    },
  };
}
