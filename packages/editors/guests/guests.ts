/**
 * Guests: other agent programs on this machine, whose changes people decide about on Drawbridge's devices. A guest's
 * change becomes a call that begins here, goes to the edge, and comes back as any other call does. The guest writes the
 * file itself.
 */

import { randomUUID } from 'node:crypto';
import { isAbsolute, relative } from 'node:path';
import { compute } from '../../../machine/compute/compute.ts';
import { ToolFailure } from '../../../machine/failure.ts';
import { logEvent } from '../../../machine/log.ts';
import { newCallId, newConversationId } from '../../../shared/ids.ts';
import { REQUEST_LIMITS } from '../../../shared/limits.ts';
import { nameInLine } from '../../../shared/text/plain-sight.ts';
import { guestEdit } from '../../../shared/tools/guest-edit.ts';
import { type BridgeFrame, GuestCall, type ToolResult } from '../../../shared/wire/tunnel.ts';
import { EDIT_TASKS } from '../../edits/tasks.ts';
import {
  type ArgumentsOf,
  type BridgeTool,
  bindTool,
  type Feed,
  type GuestCalls,
  type Proposed,
  type ToolContext,
  toProposed,
  toWrite,
  unshaped,
} from '../../host/index.ts';
import { readContentIfAny, type Workspace } from '../../workspace/index.ts';
import type { DiffOutcome, ProposedDiff } from '../companion/index.ts';

import { GUEST_LIMITS } from './limits.ts';
import { type AwaitedWrite, awaitWrite, type ProposedChange } from './write.ts';

type GuestEdit = ArgumentsOf<typeof guestEdit>;

/** A change without a decision. */
interface GuestDiff {
  readonly frame: GuestCall;
  readonly newContent: string;
  readonly filePath: string;
  /** Once a person was shown it. */
  seen?: ProposedChange;
  readonly decide: (outcome: DiffOutcome) => void;
}

export interface GuestPlace {
  /** Of the workspace, absolute. */
  readonly root: string;
  readonly workspace: Pick<Workspace, 'resolve'>;
  /** Ends a call of the session. */
  readonly cancel: (callId: string) => void;
  readonly limits?: AwaitedWrite['limits'];
}

export class Guests implements GuestCalls, Feed {
  readonly #place: GuestPlace;
  readonly #open = new Map<string, GuestDiff>();
  /** By the guest's session. */
  readonly #conversations = new Map<string, string>();
  /** What became of changes that their guests were answered about themselves, by call. */
  readonly #closed = new Map<string, Promise<ToolResult>>();
  readonly #ending = new AbortController();
  #send: ((frame: BridgeFrame) => void) | null = null;

  constructor(place: GuestPlace) {
    this.#place = place;
  }

  /** The tool of the calls that begin here. */
  readonly tool: BridgeTool = {
    ...bindTool(guestEdit, { propose: (args, context) => this.#propose(args, context) }),
    definition: {
      ...guestEdit,
      asks: 'Another program on this machine wants to change this file.',
    },
  };

  /**
   * Asks on all devices about a change. Resolves with a person's decision, and waits for it without a bound. The
   * signal withdraws the question, because the guest has its answer or has gone: the content is then the proposed one.
   */
  ask({ guest, filePath, newContent }: ProposedDiff, signal: AbortSignal): Promise<DiffOutcome> {
    return new Promise((resolve) => {
      const frame = this.#frameOf(guest, filePath);
      const { callId } = frame;
      const decide = (outcome: DiffOutcome) => {
        signal.removeEventListener('abort', close);
        this.#open.delete(callId);
        resolve(outcome);
      };
      const open: GuestDiff = { frame, newContent, filePath, decide };
      const close = () => {
        decide({ decision: 'accepted', content: newContent });
        this.#keep(callId, this.#writeOf(open));
        this.#place.cancel(callId);
      };
      if (signal.aborted) return close();
      signal.addEventListener('abort', close, { once: true });
      if (!isAskable(filePath, frame)) return logUnasked(frame);
      this.#open.set(callId, open);
      this.#send?.(frame);
    });
  }

  welcomed(send: (frame: BridgeFrame) => void): void {
    this.#send = send;
    for (const { frame } of this.#open.values()) send(frame);
  }

  lost(): void {
    this.#send = null;
  }

  closed(callId: string): Promise<ToolResult> | undefined {
    return this.#closed.get(callId);
  }

  end(): void {
    this.#ending.abort();
  }

  refused(callId: string): void {
    const open = this.#open.get(callId);
    if (open) logUnasked(open.frame);
  }

  ended(callId: string, result: ToolResult): void {
    const isNo = result.status === 'error' && DECIDED.has(result.code);
    if (isNo) this.#open.get(callId)?.decide({ decision: 'rejected' });
  }

  /** Calls that the edge never sends make room in time. */
  #keep(callId: string, result: Promise<ToolResult>): void {
    this.#closed.set(callId, result);
    const [oldest] = this.#closed.keys();
    if (oldest !== undefined && this.#closed.size > GUEST_LIMITS.maxClosed) {
      this.#closed.delete(oldest);
    }
  }

  #writeOf({ frame, newContent: content, filePath, seen }: GuestDiff): Promise<ToolResult> {
    const { workspace, limits = GUEST_LIMITS } = this.#place;
    const found = async () => {
      if (seen) return seen;
      const place = await workspace.resolve(filePath, 'read');
      const before = await readContentIfAny(place, new AbortController().signal);
      return { place, beforeHash: before?.hash ?? null, metadata: {} };
    };
    const { program } = frame;
    return awaitWrite({ program, content, seen: found, limits }, this.#ending.signal);
  }

  #frameOf({ id, program }: ProposedDiff['guest'], filePath: string): GuestCall {
    const { root } = this.#place;
    const conversationId = this.#conversations.get(id) ?? newConversationId(randomUUID());
    this.#conversations.set(id, conversationId);
    const inside = relative(root, filePath);
    return {
      type: 'guest_call',
      callId: newCallId(randomUUID()),
      conversationId,
      program: cut(program),
      title: cut(`${program} in ${root}`),
      path: inside.startsWith('..') ? filePath : inside || '.',
    };
  }

  async #propose({ proposal, path }: GuestEdit, context: ToolContext): Promise<Proposed> {
    const open = this.#open.get(proposal);
    // A person decides about the file that the guest writes: an edge may not put another one in its place.
    const isSame =
      open?.frame.path === path && open.frame.conversationId === context.conversationId;
    if (!isSame) throw new ToolFailure('GUEST_GONE', GONE);
    const place = toWrite(context.places[0]);
    const before = await readContentIfAny(place, context.signal);
    const content = open.newContent;
    const proposed = Buffer.from(content);
    const request = {
      name: nameInLine(place.name),
      bytes: before?.bytes ?? null,
      proposed,
      content,
    };
    const edited = await compute(EDIT_TASKS.amendEdit, request, context.signal);
    const carryOut = async (bytes: Uint8Array | null) =>
      open.decide({ decision: 'accepted', content: textFor(content, bytes ?? before?.bytes) });
    const call = { tool: guestEdit.name, place, before, context, carryOut };
    const shown = toProposed(call, unshaped(edited));
    const { metadata = {} } = shown.change?.result ?? {};
    open.seen = { place, beforeHash: before?.hash ?? null, metadata };
    return shown;
  }
}

/** A relative path may mean another file to the guest. The edge ends a bridge that sends a frame of another form. */
function isAskable(filePath: string, frame: GuestCall): boolean {
  return isAbsolute(filePath) && GuestCall.safeParse(frame).success;
}

function logUnasked({ path, program, callId, conversationId }: GuestCall): void {
  const message = `Drawbridge cannot ask about ${nameInLine(cut(path))} of ${program}.`;
  logEvent({ event: 'guest_unasked', conversation: conversationId, call: callId, message });
}

function cut(text: string): string {
  return text.slice(0, REQUEST_LIMITS.maxPathChars).toWellFormed();
}

/** The text of a file for a guest, which gets a byte order mark only if its own content had one. */
function textFor(content: string, bytes: Uint8Array = new Uint8Array()): string {
  const text = new TextDecoder().decode(bytes);
  return content.startsWith('\uFEFF') ? `\uFEFF${text}` : text;
}

const GONE =
  'The program that proposed this change has its answer already, or has stopped: look whether it has written the file.';

/** The codes of results that are a person's no, or the owner's. */
const DECIDED = new Set(['REJECTED', 'DENIED', 'CANCELLED']);
