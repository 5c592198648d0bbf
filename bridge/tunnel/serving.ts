/** Serves one session over any number of connections: sends the hello, passes on frames, and reports the status. */
import type { BridgeStatus } from '../../machine/bridge-status.ts';
import { maskSecrets, maskValue } from '../../machine/secrets/filter.ts';
import { TUNNEL_LIMITS } from '../../shared/limits.ts';
import {
  type BridgeFrame,
  type ReportedConfinement as ConfinementReport,
  type Hello,
  TUNNEL_PROTOCOL,
} from '../../shared/wire/tunnel.ts';
import type { Looker } from '../context/looker.ts';
import { ConnectionRefused, stayConnected } from './connection.ts';
import type { Journal } from './journal.ts';
import type { CallSession } from './session.ts';
import type { ConnectionConfig, ConnectionEvents, ProveKey } from './socket.ts';

export interface ServedBridge {
  readonly looker: Looker;
  readonly session: CallSession;
  readonly journal: Journal;
  /** Fields of each hello. Does not reject. */
  readonly hello: () => Promise<Partial<Hello>>;
  readonly introduction: Pick<Hello, 'bootId' | 'tools' | 'confinement' | 'machineId' | 'moved'>;
  onStatus(status: BridgeStatus): void;
}

/** Runs until the signal aborts, or until the server refuses the bridge for good. `onStatus` gets a refusal. */
export async function serve(
  config: ConnectionConfig,
  served: ServedBridge,
  signal: AbortSignal,
): Promise<void> {
  const { session, introduction } = served;
  const status = createStatusReporter(served);
  const events: ConnectionEvents = {
    onOpen: (send, closed, prove) => {
      const socket = { send: (frame: BridgeFrame) => send(masked(frame)), closed, prove };
      void introduce(config.bridgeId, served, socket);
    },
    onFrame: (frame) => {
      session.receive(frame);
      if (frame.type !== 'welcome') return;
      served.journal.settleRestore();
      status.connected(introduction.confinement);
    },
    onClose: (reason) => {
      session.detach();
      status.disconnected(reason);
    },
  };
  try {
    await stayConnected(config, events, signal);
  } catch (error) {
    if (!(error instanceof ConnectionRefused)) throw error;
    served.onStatus({ event: 'refused', message: error.message });
  }
}

/**
 * The one place by which texts leave this machine: secrets in them are masked. The proof of a hello is a token for the
 * server. A question stays as it is, because it is signed: admission/shown-proposal.ts has masked what the bridge added
 * to it. Without its text a person's device cannot change a new file that holds a secret, as it would lose it.
 */
function masked(frame: BridgeFrame): BridgeFrame {
  if (frame.type === 'hello') return { ...maskValue(frame), proof: frame.proof };
  if (frame.type !== 'approval_request') return maskValue(frame);
  const { newText, ...question } = frame;
  return newText === undefined || maskSecrets(newText) !== newText ? question : frame;
}

interface OpenSocket {
  readonly send: (frame: BridgeFrame) => void;
  readonly closed: AbortSignal;
  readonly prove: ProveKey;
}

/** Says hello on a new socket. Says nothing when the socket has closed meanwhile, because a later one may be in use. */
async function introduce(
  bridgeId: string,
  { looker, session, journal, hello, introduction }: ServedBridge,
  { send, closed, prove }: OpenSocket,
): Promise<void> {
  const context = await looker.look().catch(() => undefined);
  if (context === undefined || closed.aborted) return; // `look` rejects only when the bridge ends.
  const fields = await hello();
  const proof = await prove();
  if (closed.aborted) return;
  const { calls } = journal;
  const first = calls.splice(0, TUNNEL_LIMITS.maxListedCalls);
  const restored = journal.wasRestored && ({ restored: true } as const);
  const known = { ...introduction, ...fields, ...restored, context, calls: first };
  send({ type: 'hello', protocol: TUNNEL_PROTOCOL, bridgeId, proof, ...known });
  session.attach(send);
  // One frame takes `maxListedCalls` ids. The server acks the calls that it does not know, which takes some time.
  while (calls.length > 0) {
    send({ type: 'held_calls', calls: calls.splice(0, TUNNEL_LIMITS.maxListedCalls) });
  }
}

/** Reports an outage once for each reason, not with every attempt to reconnect. */
function createStatusReporter({ onStatus }: Pick<ServedBridge, 'onStatus'>) {
  let reported: string | undefined;
  return {
    connected(confinement: ConfinementReport): void {
      reported = undefined;
      onStatus({ event: 'connected', confinement });
    },
    disconnected(reason: string): void {
      if (reason !== reported) onStatus({ event: 'disconnected', reason });
      reported = reason;
    },
  };
}
