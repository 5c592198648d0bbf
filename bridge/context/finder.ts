/** Finds what belongs to one message: what it mentions, what the person looks at, and what others changed. */

import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { wayBelow } from '../../machine/below.ts';
import type { CodeLook } from '../../packages/code-index/index.ts';
import type { ReadLedger } from '../../packages/host/index.ts';
import type { Workspace } from '../../packages/workspace/index.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { type Findings, type MessageLook, NOTHING_FOUND } from '../../shared/wire/findings.ts';
import type { MachineContext } from '../../shared/wire/tunnel.ts';
import type { Visit } from '../web/page.ts';
import { attach, type CalledText } from './attachments.ts';
import { EditHistory } from './edit-history.ts';
import type { Reading } from './file-text.ts';
import { FIND_LIMITS } from './limits.ts';
import type { Looker, ShowableNames } from './looker.ts';
import { readShown, shownBy } from './shown-files.ts';

export interface FinderDeps {
  readonly workspace: Workspace;
  /** Undefined for a conversation without one. */
  readonly worktreeOf: (conversationId: string) => Promise<LookedWorktree | undefined>;
  readonly ledger: ReadLedger;
  readonly looker: Looker;
  /** The policy of this moment. */
  readonly readShowable: () => Promise<ShowableNames & Pick<Visit, 'mayFetch'>>;
  readonly pieces: readonly FindPiece[];
}

/** What a feature finds for a message. The first feature that has a method is asked, also where it finds nothing. */
export interface FindPiece {
  /** The text of a web page. Throws a ToolFailure. */
  readonly readPage?: (url: string, visit: Visit) => Promise<string>;
  /** The instructions of a skill that a message calls. Throws a ToolFailure. */
  readonly skillContent?: (
    called: { readonly name: string; readonly args: string },
    isOwners: boolean,
    look: ShowableNames & Pick<Reading, 'signal'>,
  ) => Promise<CalledText | undefined>;
  /**
   * What is wrong in the open files of an editor, and in those that the conversation has used, which are given by their
   * paths, the latest first. Undefined where nothing answers at once: then the next feature with this method is asked.
   */
  readonly diagnose?: (
    used: readonly string[],
    reading: Reading,
  ) => Promise<Findings['diagnostics']>;
  /** The passages of the code that the message is about. */
  readonly passages?: (look: CodeLook) => Promise<string[] | undefined>;
}

/** A conversation's worktree. */
export interface LookedWorktree {
  readonly workspace: Workspace;
  readonly look: (showable: ShowableNames, signal: AbortSignal) => Promise<Findings['worktree']>;
}

/** The answer to a look; `findings` only where a message was given, and the disk answered in time. */
export interface Sight {
  readonly context: MachineContext;
  readonly findings?: Findings;
}

/** Finds for any number of messages at once. */
export class Finder {
  readonly #finding: FinderDeps;
  readonly #history: EditHistory;
  readonly #signal: AbortSignal;

  constructor(finding: FinderDeps, signal: AbortSignal) {
    this.#finding = finding;
    this.#history = new EditHistory(finding.ledger);
    this.#signal = signal;
  }

  /** Rejects only when the bridge ends. */
  async look(message: MessageLook | undefined, { isOwners } = { isOwners: true }): Promise<Sight> {
    const context = this.#finding.looker.look();
    if (!message) return { context: await context };
    context.catch(() => undefined); // It may reject before anything waits for it.
    const findings = await this.#findInTime(message, context, isOwners);
    return { context: await context, ...(findings && { findings }) };
  }

  async #findInTime(
    message: MessageLook,
    context: Promise<MachineContext>,
    isOwners: boolean,
  ): Promise<Findings | undefined> {
    const time = new AbortController();
    const signal = AbortSignal.any([this.#signal, time.signal]);
    const up = sleep(FIND_LIMITS.maxMs, undefined, { signal: time.signal });
    try {
      const found = this.#find(message, context, { signal, isOwners });
      return await Promise.race([found, up.then(undefined, () => undefined)]);
    } catch {
      this.#signal.throwIfAborted();
      return undefined; // The disk failed. The tools will say why when they are used.
    } finally {
      time.abort();
    }
  }

  async #find(
    message: MessageLook,
    context: Promise<MachineContext>,
    { signal, isOwners }: { readonly signal: AbortSignal; readonly isOwners: boolean },
  ): Promise<Findings> {
    const { conversationId, shown, worktree, isSteer, workspacePath, search, called } = message;
    const { workspace, worktreeOf, readShowable, pieces } = this.#finding;
    // Reversed, because the last one assigned stays.
    const { readPage, skillContent, passages }: FindPiece = Object.assign(
      {},
      ...pieces.toReversed(),
    );
    const showable = await readShowable();
    const { mayName, mayVolunteer, mayRead, mayFetch } = showable;
    const places = await Promise.all(
      message.mentions.map((mention) => inWorkspace(mention, workspace.root)),
    );
    const mentions = [...(called ? [called] : []), ...places];
    const owner = worktree === true ? conversationId : worktree;
    const room = owner === undefined ? undefined : await worktreeOf(owner);
    const place = room?.workspace ?? workspace;
    const nameable = place.showing(mayName);
    const readable = place.showing((name) => mayName(name) && mayRead(name));
    const reading = { nameable, readable, signal };
    const unasked = place.showing((name) => mayVolunteer(name) && mayRead(name));
    const attaching = {
      ...reading,
      // For others than the owner web_fetch reads pages, under the rules for their calls.
      readPage: async (url: string) =>
        (await readPage?.(url, { mayFetch: isOwners ? mayFetch : never, signal })) ?? '',
      readSkill: async (called: { readonly name: string; readonly args: string }) =>
        await skillContent?.(called, isOwners, { ...showable, signal }),
    };
    if (isSteer) return { ...NOTHING_FOUND, attachments: await attach(mentions, attaching) };
    // The editor of this machine and git's status are about the person's own files.
    const [attachments, changed, { editor, gitStatus }, seen, diagnostics, client, code] =
      await Promise.all([
        attach(mentions, attaching),
        this.#history.changedSince(conversationId, reading),
        context,
        room?.look({ ...showable, mayName: mayVolunteer }, signal),
        room || !isOwners ? undefined : this.#diagnose(conversationId, reading),
        findClient(workspacePath, workspace.root),
        passages?.({ search, workspace: unasked, signal }),
      ]);
    const inClient =
      shown && (await Promise.all(shown.map((file) => inWorkspace(file, workspace.root))));
    const [openFiles, touched] = await Promise.all([
      readShown(inClient ?? shownBy(room || !isOwners ? undefined : editor), {
        ...reading,
        readable: unasked,
      }),
      this.#history.touchedSince(conversationId, room ? undefined : gitStatus, reading),
    ]);
    const unnamed = changed.rest + touched.rest;
    return {
      attachments,
      openFiles: openFiles.filter(({ path }) => isShowable(path)),
      changed: changed.some.filter(({ path }) => isShowable(path)),
      touched: touched.some.filter(isShowable),
      ...(unnamed > 0 && { unnamed }),
      ...(diagnostics && { diagnostics }),
      ...client,
      ...(seen && { worktree: seen }),
      ...(code && { passages: code }),
    };
  }

  async #diagnose(
    conversationId: string,
    reading: Reading,
  ): Promise<Findings['diagnostics'] | undefined> {
    const { ledger, pieces } = this.#finding;
    const used = ledger.filesOf(conversationId).slice(0, FIND_LIMITS.maxUsedFiles);
    const paths = used.map(([path]) => path);
    for (const { diagnose } of pieces) {
      const found = await diagnose?.(paths, reading);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const never = () => false;

/** With the workspace's own spelling of an absolute path: a client may spell it through other links. */
async function inWorkspace<Named extends { readonly path: string } | { readonly url: string }>(
  named: Named,
  root: string,
): Promise<Named> {
  if (!('path' in named) || !isAbsolute(named.path)) return named;
  const { path } = named;
  const way = await wayBelow(root, path);
  return way === undefined ? named : { ...named, path: join(root, way) };
}

/** Undefined for a folder that does not exist, or is outside the workspace. */
async function findClient(
  workspacePath: string | undefined,
  root: string,
): Promise<Pick<Findings, 'client' | 'clientFolder'> | undefined> {
  if (workspacePath === undefined || !isAbsolute(workspacePath)) return undefined;
  const real = await realpath(workspacePath).catch(() => undefined);
  if (real === undefined) return undefined;
  const way = await wayBelow(root, real);
  if (way === undefined) return undefined;
  if (way === '.') return { client: 'same' };
  return { client: 'inside', ...(isShowable(way) && { clientFolder: way }) };
}

function isShowable(name: string): boolean {
  return name.length <= REQUEST_LIMITS.maxPathChars;
}
