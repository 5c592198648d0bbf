/** Ports of commands that a person has opened to the programs of this machine, such as a browser. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { ToolFailure } from '../../machine/failure.ts';
import { Lanes } from '../../machine/lanes.ts';
import { logEvent } from '../../machine/log.ts';
import type { Dialer, KnownProcess, ProcessBook } from '../../packages/sandbox/index.ts';
import { portText } from '../../shared/wire/approval-text.ts';
import type { DeviceKey } from '../../shared/wire/approvals.ts';
import type { PortRequest, ProcessInfo } from '../../shared/wire/processes.ts';
import { isSigned } from '../admission/devices.ts';

export const PORT_LIMITS = {
  /** Open at a time, of all processes: each one has a Node of its own in the network, with some 40 MB. */
  maxOpen: 8,
  /** Connections of one port at a time: a page opens six, and development servers send modules one by one. */
  maxConnections: 128,
} as const;

export interface PortsConfig {
  readonly bridgeId: string;
  readonly book: ProcessBook;
  /** The enrolled devices. */
  readonly devices: () => Promise<readonly DeviceKey[]>;
}

/** The port of a process, and a device's yes. */
export interface PortAsk extends PortRequest {
  readonly processId: string;
}

interface OpenPort {
  readonly processId: string;
  readonly port: number;
  readonly address: string;
  readonly close: () => void;
}

/** A port ends with its process, with the bridge, or when a person closes it. */
export class OpenPorts {
  readonly #config: PortsConfig;
  readonly #open = new Map<string, OpenPort>();
  /** The nonces that opened a port of a running process: each one counts once. */
  readonly #spent = new Map<string, Set<string>>();
  readonly #lanes = new Lanes();
  #hasEnded = false;

  constructor(config: PortsConfig) {
    this.#config = config;
  }

  of(processId: string): NonNullable<ProcessInfo['ports']> {
    const all = [...this.#open.values()].filter((each) => each.processId === processId);
    return all.map(({ port, address }) => ({ port, address }));
  }

  /** Opens the port, or closes it where no device says yes. Throws a ToolFailure (`PORT_REFUSED`). */
  async change(ask: PortAsk): Promise<void> {
    // One at a time, so that no bound is passed.
    await this.#lanes.run(['ports'], async () => {
      const { processId, port } = ask;
      const key = `${processId} ${port}`;
      if (ask.grant === undefined) return this.#open.get(key)?.close();
      const process = await this.#admit(ask);
      if (!this.#open.has(key)) await this.#listen(key, process, port);
    });
  }

  end(): void {
    this.#hasEnded = true;
    for (const { close } of [...this.#open.values()]) close();
  }

  /** The edge alone opens nothing: what counts is the signature of a device that was enrolled at this machine. */
  async #admit({ processId, port, grant }: PortAsk): Promise<KnownProcess> {
    const { bridgeId, book, devices } = this.#config;
    const process = book.get(processId);
    if (process?.state.state !== 'running') throw refused('No such process is running.');
    if (grant === undefined) throw refused(UNSIGNED);
    const { nonce, signature } = grant;
    const text = portText({ bridgeId, processId, port, nonce });
    // An unreadable file of keys enrols no device. The command that enrols devices reports what is wrong with the file.
    const enrolled = await devices().catch(() => []);
    // A passkey allows one call at a time, and a port stays open.
    const may = enrolled.filter(({ passkey }) => !passkey);
    if (!(await isSigned(text, signature, may))) throw refused(UNSIGNED);
    const spent = this.#spent.get(processId) ?? new Set();
    if (spent.has(nonce)) throw refused('This approval was already used: ask again.');
    this.#spent.set(processId, spent.add(nonce));
    void process.state.command.ended.then(() => this.#spent.delete(processId));
    return process;
  }

  async #listen(key: string, process: KnownProcess, port: number): Promise<void> {
    if (process.openDialer === undefined) throw refused(ownNetwork(process, port));
    if (this.#open.size >= PORT_LIMITS.maxOpen) {
      throw refused(`${PORT_LIMITS.maxOpen} ports are open already: close one.`);
    }
    const dialer = await process.openDialer();
    const server = await listening(dialer, port).catch((error: unknown) => {
      dialer[Symbol.dispose]();
      throw error;
    });
    const { state, id: processId } = process;
    const address = `http://127.0.0.1:${Object(server.address()).port}`;
    const { conversationId: conversation } = process;
    const message = (what: string) => `${what} port ${port} of ${processId} at ${address}`;
    const close = () => {
      if (!this.#open.delete(key)) return;
      server.close();
      dialer[Symbol.dispose]();
      logEvent({ event: 'process_port_closed', conversation, message: message('Closed') });
    };
    this.#open.set(key, { processId, port, address, close });
    logEvent({ event: 'process_port_opened', conversation, message: message('Opened') });
    dialer.ended.addEventListener('abort', close, { once: true });
    if (state.state === 'running') void state.command.ended.then(close);
    if (state.state === 'ended' || dialer.ended.aborted || this.#hasEnded) close();
  }
}

async function listening(dialer: Dialer, port: number): Promise<Server> {
  const server = forwarding(dialer, port).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Carries bytes and knows no protocol: pages, web sockets and everything else pass. */
function forwarding(dialer: Dialer, port: number): Server {
  const server = createServer({ pauseOnConnect: true }, (outer) => {
    outer.on('error', () => {});
    dialer.connect(port).then(
      (inner) => void join(outer, inner, dialer.ended),
      () => outer.destroy(), // Nothing listens there.
    );
  });
  server.maxConnections = PORT_LIMITS.maxConnections;
  return server;
}

/** Both ways, until one side ends or the port is closed. */
async function join(outer: Socket, inner: Socket, signal: AbortSignal): Promise<void> {
  await Promise.all([pipeline(outer, inner, { signal }), pipeline(inner, outer, { signal })]).catch(
    () => {
      // The end of one side ends the other.
      outer.destroy();
      inner.destroy();
    },
  );
}

function ownNetwork({ permissions }: KnownProcess, port: number): string {
  const isOpen = permissions.includes('network') || permissions.includes('all');
  return isOpen
    ? `The process uses the machine's own network: open http://localhost:${port} there.`
    : 'Ports cannot be opened on this machine: it has no sandbox, or the sandbox has no shared network.';
}

const UNSIGNED =
  "Only a device that is enrolled at the bridge's machine opens a port: see `drawbridge devices`.";

function refused(why: string): ToolFailure {
  return new ToolFailure('PORT_REFUSED', why);
}
