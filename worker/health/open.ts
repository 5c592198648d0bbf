/**
 * What is open in this isolate: conversations and tunnels, by id. The objects tell of each change. They can sleep while
 * they are open, so the entries outlive them.
 */
import { METRIC_LIMITS } from './limits.ts';

export interface OpenConversation {
  readonly followers: number;
  /** Runs that wait for their turn. */
  readonly queued: number;
  /** The state of the run at work; null without one. */
  readonly state: 'asking' | 'awaiting_tools' | 'waiting' | null;
}

export interface OpenTunnel {
  readonly isConnected: boolean;
  readonly calls: number;
}

interface HeardOpen<Open> {
  readonly open: Open;
  readonly atMs: number;
}

const conversations = new Map<string, HeardOpen<OpenConversation>>();
const tunnels = new Map<string, HeardOpen<OpenTunnel>>();

/** Null for a conversation that is deleted. */
export function noteConversation(id: string, open: OpenConversation | null): void {
  const isOver = !open || (open.followers === 0 && open.queued === 0 && open.state === null);
  note(conversations, id, isOver ? null : open);
}

/** What is not given stays as it is. */
export function noteTunnel(id: string, change: Partial<OpenTunnel>): void {
  const before = tunnels.get(id)?.open ?? { isConnected: false, calls: 0 };
  const open = { ...before, ...change };
  note(tunnels, id, open.isConnected || open.calls > 0 ? open : null);
}

export function openConversations(): OpenConversation[] {
  return heardOf(conversations);
}

export function openTunnels(): OpenTunnel[] {
  return heardOf(tunnels);
}

function note<Open>(known: Map<string, HeardOpen<Open>>, id: string, open: Open | null): void {
  if (open === null) known.delete(id);
  else known.set(id, { open, atMs: Date.now() });
}

function heardOf<Open>(known: Map<string, HeardOpen<Open>>): Open[] {
  const now = Date.now();
  for (const [id, { atMs }] of known) {
    if (now - atMs > METRIC_LIMITS.maxSilentMs) known.delete(id);
  }
  return [...known.values()].map(({ open }) => open);
}
