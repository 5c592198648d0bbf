/** The rooms of conversations with a worktree: where their calls are judged and carried out, apart from the workspace. */

import { setTimeout as sleep } from 'node:timers/promises';
import { WORKTREE_TOOLS } from '../../shared/tools/worktree.ts';
import type { ToolCall } from '../../shared/wire/tunnel.ts';
import type { Gate } from '../admission/admit.ts';
import type { Elsewhere } from '../admission/call-life.ts';
import type { Judge } from '../admission/judge.ts';
import type { LookedWorktree } from '../context/finder.ts';
import type { LanguageServers } from '../diagnostics/servers.ts';
import type { Egress } from '../egress/egress.ts';
import { ToolFailure } from '../failure.ts';
import type { Formatters } from '../formatting/formatters.ts';
import { Lanes } from '../lanes.ts';
import { currentCall, logTrouble } from '../log.ts';
import type { Confinement } from '../sandbox/launch/confinement.ts';
import { BackgroundProcesses } from '../terminal/background.ts';
import type { ProcessBook } from '../terminal/process-book.ts';
import { createCatalogue, createCommandTools } from '../tools/catalogue.ts';
import { Workspace } from '../workspace/workspace.ts';
import { assertOwn, folderOf, worktreeGone } from './folder.ts';
import { WORKTREE_LIMITS } from './limits.ts';
import { lookedAt } from './look.ts';
import type { Workshop } from './making.ts';
import type { WorktreeFacts } from './store.ts';

/** What a room takes from its bridge. */
export interface House {
  readonly workshop: Workshop;
  /** Has the handles of all commands of the bridge. */
  readonly book: ProcessBook;
  /** Opens hosts to commands, as in the workspace. */
  readonly egress?: Egress | undefined;
  /** Judges calls whose paths are relative to this folder, by the rules of the workspace. */
  readonly judgeIn: (folder: string) => Judge;
  /** The tools that work in no folder of a call: those of servers, and of the web. */
  readonly findElsewhere: (name: string) => ReturnType<Gate['tools']['get']>;
  /** The language servers of a folder with its own confinement. */
  readonly serversOf: (root: string, confinement: Confinement) => LanguageServers;
  /** The owner's formatters, likewise. */
  readonly formattersOf: (root: string, confinement: Confinement) => Formatters;
}

export interface Room extends Gate {
  readonly confinement: Confinement;
  /** Ends its background commands. */
  readonly end: () => Promise<void>;
}

/** Makes rooms on first use, also those that an earlier process has left. */
export class Rooms implements Elsewhere {
  readonly #house: House;
  readonly #rooms = new Map<string, Promise<Room>>();
  /** The running calls, by the conversation in whose worktree they work. */
  readonly #running = new Map<string, Set<Promise<unknown>>>();
  readonly #lanes = new Lanes();
  #hasEnded = false;

  constructor(house: House) {
    this.#house = house;
  }

  /** Throws a ToolFailure (`WORKTREE_GONE`) for a call into a worktree that is not there. */
  async gateOf(call: ToolCall): Promise<Gate | undefined> {
    const owner = ownerOf(call);
    if (owner === undefined) return undefined;
    const facts = await this.find(owner);
    await this.#house.workshop.store.use(owner);
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
      return lookedAt(this.#house.workshop, facts, await this.enter(facts));
    } catch (error) {
      if (error instanceof ToolFailure) return undefined;
      throw error;
    }
  }

  /** Throws a ToolFailure (`WORKTREE_GONE`). */
  async find(conversationId: string): Promise<WorktreeFacts> {
    const facts = this.#house.workshop.store.read(conversationId);
    if (facts) return facts;
    await this.leave(conversationId); // The owner has removed it.
    throw worktreeGone();
  }

  /** Throws a ToolFailure (`WORKTREE_GONE`) after {@link end}, since nothing would end that room. */
  async enter(facts: WorktreeFacts): Promise<Room> {
    if (this.#hasEnded) throw worktreeGone();
    const { conversationId } = facts;
    const known = this.#rooms.get(conversationId);
    if (known) return await known;
    const made = this.#make(facts);
    this.#rooms.set(conversationId, made);
    made.catch(() => {
      if (this.#rooms.get(conversationId) === made) this.#rooms.delete(conversationId);
    });
    return await made;
  }

  /** Ends all that runs in the room. */
  async leave(conversationId: string): Promise<void> {
    const room = this.#rooms.get(conversationId);
    this.#rooms.delete(conversationId);
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

  async end(): Promise<void> {
    this.#hasEnded = true;
    await Promise.all([...this.#rooms.keys()].map((conversationId) => this.leave(conversationId)));
  }

  async #make(facts: WorktreeFacts): Promise<Room> {
    const { workshop, book, egress, judgeIn, findElsewhere, serversOf, formattersOf } = this.#house;
    const { root, store } = workshop;
    const folder = await folderOf(root, facts, store.pathsOf(facts.conversationId));
    const workspace = await Workspace.open(folder.workspace, { alias: root });
    const confinement = await workshop.confinement.elsewhere(folder);
    if (confinement.nameless) workspace.keepClosed(confinement.nameless);
    const background = new BackgroundProcesses(book);
    const servers = serversOf(folder.workspace, confinement);
    const formatters = formattersOf(folder.workspace, confinement);
    const commands = createCommandTools({ confinement, background, egress });
    const known = createCatalogue(commands, servers, formatters);
    return {
      workspace,
      confinement,
      tools: { get: (name) => known.get(name) ?? findElsewhere(name) },
      judge: judgeIn(folder.workspace),
      assertChangeable: (place) => assertOwn(place, facts, store.pathsOf(facts.conversationId)),
      end: async () => {
        await Promise.all([background.endAll(), servers.end()]);
        confinement[Symbol.dispose]();
      },
    };
  }
}

/** For a machine without git. A call into a worktree of before must not reach the workspace. */
export const NO_ROOMS: Elsewhere = {
  async gateOf(call) {
    if (ownerOf(call) !== undefined) throw worktreeGone();
    return undefined;
  },
  during: async (_, work) => await work(),
};

/** The conversation in whose worktree the call works; undefined for a call in the workspace. */
function ownerOf({ worktree, tool, conversationId }: ToolCall): string | undefined {
  const isOwn = WORKTREE_TOOLS.some(({ name }) => name === tool);
  if (!worktree || isOwn) return undefined;
  return worktree === true ? conversationId : worktree;
}
