/** The rooms of a bridge: the workspace, and those of conversations with a worktree. */

import { setTimeout as sleep } from 'node:timers/promises';
import { ToolFailure } from '../../machine/failure.ts';
import { Lanes } from '../../machine/lanes.ts';
import { currentCall, logTrouble } from '../../machine/log.ts';
import { Workspace } from '../../packages/workspace/index.ts';
import { WORKTREE_TOOLS } from '../../shared/tools/worktree.ts';
import type { ToolCall } from '../../shared/wire/tunnel.ts';
import type { CallRooms } from '../admission/call-life.ts';
import type { LookedWorktree } from '../context/finder.ts';
import type { RoomPart, RoomSource } from '../feature.ts';
import { type Furnishing, newRoom, type Room } from '../room.ts';
import { assertOwn, folderOf, worktreeGone } from './folder.ts';
import { WORKTREE_LIMITS } from './limits.ts';
import { lookedAt } from './look.ts';
import type { Workshop } from './making.ts';
import type { WorktreeFacts } from './store.ts';

export interface RoomsConfig {
  readonly workspace: RoomSource;
  readonly furnishing: Furnishing;
  /** Undefined on a machine without git. */
  readonly workshop?: Workshop | undefined;
}

/** Makes the rooms of worktrees on first use, also those that an earlier process has left. */
export class Rooms implements CallRooms {
  readonly workspace: Room;
  readonly #workshop: Workshop | undefined;
  readonly #furnishing: Furnishing;
  readonly #worktrees = new Map<string, Promise<Room>>();
  /** The running calls, by the conversation in whose worktree they work. */
  readonly #running = new Map<string, Set<Promise<unknown>>>();
  readonly #lanes = new Lanes();
  #hasEnded = false;

  /** `ownOf` gives what the workspace alone has: the tools that open, close and remove worktrees. */
  constructor(
    { workspace, furnishing, workshop }: RoomsConfig,
    ownOf: (rooms: Rooms) => RoomPart = () => ({}),
  ) {
    this.#workshop = workshop;
    this.#furnishing = furnishing;
    this.workspace = newRoom(workspace, furnishing, ownOf(this));
  }

  /** Throws a ToolFailure (`WORKTREE_GONE`) for a call into a worktree that is not there. */
  async of(call: ToolCall): Promise<Room> {
    const owner = ownerOf(call);
    if (owner === undefined) return this.workspace;
    const facts = await this.find(owner);
    await this.#workshop?.store.use(owner);
    return await this.enter(facts);
  }

  async during<Value>(call: ToolCall, work: () => Promise<Value>): Promise<Value> {
    const owner = ownerOf(call);
    if (owner === undefined) return await work();
    const calls = this.#running.get(owner) ?? new Set();
    this.#running.set(owner, calls);
    const ended = work();
    calls.add(ended);
    try {
      return await ended;
    } finally {
      calls.delete(ended);
      if (calls.size === 0) this.#running.delete(owner);
    }
  }

  /**
   * Resolves at the end of the calls that now run in the worktree, or after WORKTREE_LIMITS.settleMs. Returns whether
   * all of them ended. Rejects when the signal aborts.
   */
  async settled(conversationId: string, signal: AbortSignal): Promise<boolean> {
    const calls = [...(this.#running.get(conversationId) ?? [])];
    if (calls.length === 0) return true;
    const over = new AbortController();
    const late = sleep(WORKTREE_LIMITS.settleMs, false, {
      signal: AbortSignal.any([signal, over.signal]),
    });
    try {
      return await Promise.race([Promise.allSettled(calls).then(() => true), late]);
    } finally {
      over.abort();
    }
  }

  /** The conversation's worktree for a look at it; undefined without one. */
  async lookedOf(conversationId: string): Promise<LookedWorktree | undefined> {
    try {
      const facts = await this.find(conversationId);
      return lookedAt(this.#workshopOf(), facts, await this.enter(facts));
    } catch (error) {
      if (error instanceof ToolFailure) return undefined;
      throw error;
    }
  }

  /** Throws a ToolFailure (`WORKTREE_GONE`). */
  async find(conversationId: string): Promise<WorktreeFacts> {
    const facts = this.#workshop?.store.read(conversationId);
    if (facts) return facts;
    await this.leave(conversationId); // The owner has removed it.
    throw worktreeGone();
  }

  /** Throws a ToolFailure (`WORKTREE_GONE`) after {@link end}, since nothing would end that room. */
  async enter(facts: WorktreeFacts): Promise<Room> {
    if (this.#hasEnded) throw worktreeGone();
    const { conversationId } = facts;
    const known = this.#worktrees.get(conversationId);
    if (known) return await known;
    const made = this.#make(facts);
    this.#worktrees.set(conversationId, made);
    made.catch(() => {
      if (this.#worktrees.get(conversationId) === made) this.#worktrees.delete(conversationId);
    });
    return await made;
  }

  /** Ends all that runs in the room. */
  async leave(conversationId: string): Promise<void> {
    const room = this.#worktrees.get(conversationId);
    this.#worktrees.delete(conversationId);
    const ids = { conversation: conversationId, ...currentCall() };
    await room
      ?.then(({ end }) => end())
      .catch((error) =>
        logTrouble({ event: 'worktree_left', ...ids }, 'A worktree is left', error),
      );
  }

  /** One opens, closes or removes a conversation's worktree at a time. */
  async inTurn<Value>(
    conversationId: string,
    signal: AbortSignal,
    work: () => Promise<Value>,
  ): Promise<Value> {
    return await this.#lanes.run([conversationId], work, signal);
  }

  /** Ends all that runs in any room. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    const left = [...this.#worktrees.keys()].map((conversationId) => this.leave(conversationId));
    await Promise.all([this.workspace.end(), ...left]);
  }

  async #make(facts: WorktreeFacts): Promise<Room> {
    const { root, store, confinement: outer } = this.#workshopOf();
    const paths = store.pathsOf(facts.conversationId);
    const folder = await folderOf(root, facts, paths);
    const workspace = await Workspace.open(folder.workspace, { standsFor: root });
    const confinement = await outer.elsewhere(folder);
    if (confinement.nameless) workspace.keepClosed(confinement.nameless);
    const source: RoomSource = {
      kind: 'worktree',
      workspace,
      confinement,
      assertChangeable: (place) => assertOwn(place, facts, paths),
    };
    const room = newRoom(source, this.#furnishing);
    return {
      ...room,
      end: async () => {
        await room.end();
        confinement[Symbol.dispose]();
      },
    };
  }

  /** Throws a ToolFailure (`WORKTREE_GONE`): a call into a worktree of before must not reach the workspace. */
  #workshopOf(): Workshop {
    if (!this.#workshop) throw worktreeGone();
    return this.#workshop;
  }
}

/** The conversation in whose worktree the call works; undefined for a call in the workspace. */
function ownerOf({ worktree, tool, conversationId }: ToolCall): string | undefined {
  const isOwn = WORKTREE_TOOLS.some(({ name }) => name === tool);
  if (!worktree || isOwn) return undefined;
  return worktree === true ? conversationId : worktree;
}
