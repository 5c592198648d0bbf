/** The limits of the proxy by which sandboxed commands reach hosts, each with its reason. */
import { KIB, MINUTE, SECOND } from '../../../shared/units.ts';

export const EGRESS_LIMITS = {
  /** Connections of one conversation at a time: installers open up to 64, and two may run. */
  maxConnections: 192,
  /** Bytes of a request's head, and of a response's: Node's own default. */
  maxHeadBytes: 16 * KIB,
  /** Milliseconds until a request's head is complete: it comes from the same machine. */
  headMs: 10 * SECOND,
  /** Milliseconds for finding and connecting to a host, all its addresses together. */
  connectMs: 20 * SECOND,
  /** Lookups of one conversation at a time: the system runs two, and the bridge's own wait behind these. */
  maxLookups: 4,
  /** Lookups of one command at a time: as many as the system runs. Installers ask for one or two names. */
  maxLookupsOfCommand: 2,
  /** Milliseconds without a byte in either direction: registries may build an answer for a minute. */
  idleMs: 5 * MINUTE,
  /** Refused hosts that a result names: a model asks for a few at a time. */
  maxRefused: 10,
} as const;
