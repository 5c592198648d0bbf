/** The owner of `drawbridge connect`, a person or `drawbridge up`: gets its status and decides when it ends. */

import { LOCAL_LIMITS } from '../../local/limits.ts';
import type { BridgeStatus } from '../../machine/bridge-status.ts';
import { inOneLine } from '../../shared/text/plain-sight.ts';
import { abortOnInterrupt } from '../terminal/ending.ts';

export interface Owner {
  /** Aborts when the bridge must end. */
  readonly signal: AbortSignal;
  tell(status: BridgeStatus): void;
  /** Shows a person one line. */
  warn(line: string): void;
  /** Called when the bridge has ended. */
  leave(): void;
}

/** Only `up` starts this process with an IPC channel. */
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
      return `Connected. Sandbox: ${status.confinement.kind}. ${status.confinement.detail}`;
    case 'disconnected':
      return `The connection was lost (${status.reason}); trying again.`;
    case 'refused':
    case 'failed':
      return `drawbridge: ${status.message}`;
  }
}

/**
 * Aborts when the process that started this one ends it with SIGTERM, or is gone: the IPC channel closes when that
 * process is killed.
 */
export function endWithParent(): AbortSignal {
  const ending = new AbortController();
  process.on('SIGTERM', () => ending.abort());
  const endAlone = () => {
    ending.abort();
    // No parent is left to kill a process that does not end.
    setTimeout(() => process.exit(1), LOCAL_LIMITS.bridgeGraceMs).unref();
  };
  process.once('disconnect', endAlone);
  // If the parent was killed while this process was starting, no `disconnect` event comes.
  if (!process.connected) endAlone();
  // A terminal sends these to all its processes. This one waits for its parent, which would restart it otherwise.
  for (const name of ['SIGINT', 'SIGHUP']) process.on(name, () => {});
  return ending.signal;
}

function newUpOwner(): Owner {
  return {
    signal: endWithParent(),
    tell: (status) => {
      if (status.event === 'failed') process.exitCode = 1;
      if (process.connected) process.send?.(status);
    },
    // `up` watches the state folder too, and warns by itself.
    warn: () => {},
    leave: () => {
      if (process.connected) process.disconnect();
    },
  };
}
