/** Takes a message into its conversation, which may not exist yet. */

import { type ModelEnv, privateSettings, resolveModel } from '../../packages/model/index.ts';
import { imagesOf } from '../../shared/api/requests.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { responseIdOf } from '../../shared/ids.ts';
import { newTraceId } from '../../shared/wire/trace.ts';
import type { GuestCall } from '../../shared/wire/tunnel.ts';
import { newAgentRow, requireWorktrees } from '../agents/agent.ts';
import type { Env } from '../env.ts';
import type { Caller, Submission } from '../ports/conversation.ts';
import type { TunnelHands } from './calls/hands.ts';
import { mentionsOf } from './calls/message-look.ts';
import { notFound } from './found.ts';
import type { RunLog } from './log/run-log.ts';
import type { Parts } from './parts.ts';
import { inWantedMode } from './run/own-mode.ts';
import { ERRANDS } from './store/errands.ts';
import type { ConversationRow, Run, RunRequest } from './store/rows.ts';
import { titleOf } from './store/title.ts';

/** What the object says and does for a message. It can change at each await. */
export interface TakingInDoor {
  readonly env: Env;
  /** Null while nothing is stored. */
  readonly parts: () => Parts | null;
  readonly isCopying: () => boolean;
  /** The hands of a conversation that is not stored yet. */
  readonly handsAt: (bridgeId: string | null, isPrivate: boolean) => TunnelHands;
  /** Stores a new conversation. */
  readonly create: (row: ConversationRow) => Parts;
}

/** Returns when the message and its run are stored. */
export async function takeIn(
  caller: Caller,
  sent: Submission,
  door: TakingInDoor,
): Promise<{ responseId: string }> {
  const { create, delivery } = sent;
  const found = door.parts();
  const parts = found?.row.owner === caller.account ? found : null;
  if (!parts && (found || !create)) throw notFound('conversation');
  const { deleteAfterHours = null } = parts?.row ?? create ?? {};
  const isPrivate = deleteAfterHours !== null;
  const settings = isPrivate ? privateSettings(door.env) : door.env;
  const submission = withOwnModel(sent, settings);
  if (parts && !create) refuseSubagent(parts);
  if (parts && !create) requireOwnBridge(parts, submission);
  const hands = parts?.hands ?? door.handsAt(create?.bridgeId ?? null, isPrivate);
  const held = (digest: string) => parts?.log.heldOffers(digest);
  // A message that waits does not need the machine yet: its run looks when it starts. One that mentions something
  // waits too, because the look can take seconds. A mode of the workspace is looked for at once.
  const isBusy = parts?.log.current !== undefined && delivery !== 'interrupt';
  const waits = isBusy || mentionsOf(submission.request).length > 0;
  const look = () => hands.look(held, waits ? null : submission.request);
  const mustLook = !waits || submission.request.wantedMode;
  const machine = mustLook ? await look().catch(() => undefined) : undefined;
  // With the alarm known, the step that stores the run also sets its alarm: a crash cannot leave a run without one.
  await parts?.deadlines.look();
  // One synchronous step from here on: of two simultaneous requests, the second one sees what the first one stored.
  const stored = door.parts();
  const ordinal = stored && repeated(stored, submission.request)?.ordinal;
  if (ordinal) {
    await stored.listing.report(); // The instance that stored it may have died before it did.
    return { responseId: responseIdOf(caller.conversationId, ordinal) };
  }
  if (create && (stored || door.isCopying())) throw keyTaken();
  if (machine !== undefined) inWantedMode(submission.request, machine, settings);
  if (!stored) requireWorktrees(create?.agent, machine);
  const { inbox, listing, plans, agent } = stored ?? door.create(newRow(caller, create));
  const asked = plans.requestOf(submission);
  const request = agent?.placed(asked) ?? asked;
  const responseId = inbox.take({ ...submission, request }, waits ? undefined : machine);
  // Listed only after it is stored, so the account never lists a conversation that does not exist.
  if (!stored) await listing.begin();
  return { responseId };
}

/** With a private model where the message leaves the model open. @throws {DrawbridgeError} MODEL_NOT_PRIVATE */
function withOwnModel(submission: Submission, settings: ModelEnv): Submission {
  const { request, ownFields } = submission;
  const { asks, saidBy } = ERRANDS[request.type];
  if (!settings.isPrivate || asks === 'nothing') return submission;
  const isOpen = !ownFields.some((field) => field === 'model' || field === 'budget');
  const isText = request.messages.every(({ content }) => imagesOf(content).length === 0);
  const isReplaceable = isOpen && isText && saidBy !== 'model';
  const model = resolveModel(isReplaceable ? undefined : request.model, settings);
  return { ...submission, request: { ...request, model } };
}

/** A guest's call as a message of the guest's conversation. The call's id makes it unique. */
export function guestSubmission(
  log: RunLog | undefined,
  bridgeId: string,
  { callId, program, path, title }: GuestCall,
  deleteAfterHours: number | null,
): Submission {
  if (log && log.find(1)?.request.type !== 'guest') throw notFound('conversation');
  const request: RunRequest = {
    type: 'guest',
    model: program,
    mode: 'agent',
    messages: [{ role: 'user', content: `${program} wants to change ${path}` }],
    guest: { callId, path },
    idempotency: { key: callId, digest: callId },
    trace: newTraceId(crypto.randomUUID()),
    createdMs: Date.now(),
  };
  const named = { title: titleOf(title), isTitled: true };
  const create = { bridgeId, ...named, ephemeral: false, deleteAfterHours };
  const posted = { request, device: undefined, delivery: 'queue' as const, ownFields: [] };
  return { ...posted, bridgeId, create: log ? null : create };
}

function newRow(
  { account, conversationId }: Caller,
  create: Submission['create'],
): ConversationRow {
  if (!create) throw notFound('conversation'); // The conversation was deleted while its bridge was asked.
  const { bridgeId, title, ephemeral, agent, isTitled, parent, deleteAfterHours = null } = create;
  return {
    id: conversationId,
    owner: account,
    bridge: bridgeId,
    created: new Date().toISOString(),
    title,
    archived: false,
    ephemeral,
    deleteAfterHours,
    agent: agent && newAgentRow(agent),
    titleAttempts: ephemeral || isTitled || parent ? null : 0,
    parent,
  };
}

/** A subagent answers the agent that started it, and no one else. */
export function refuseSubagent({ row: { parent } }: Pick<Parts, 'row'>): void {
  if (!parent) return;
  throw new DrawbridgeError(
    'INVALID_REQUEST',
    `conversationId: a subagent works in this conversation, which belongs to ${parent.conversationId}: write there, or fork this one`,
  );
}

/** A message may name the conversation's bridge, and cannot move the conversation to another one. */
function requireOwnBridge(
  { row: { bridge } }: Parts,
  { bridgeId: asked, standsAt }: Pick<Submission, 'bridgeId' | 'standsAt'>,
): void {
  if (asked === undefined && bridge !== null && standsAt !== undefined && standsAt !== bridge) {
    throw new DrawbridgeError(
      'INVALID_REQUEST',
      `bridgeId: this conversation works at ${bridge}, and the token is for another folder: use one of that folder, or name the bridge`,
    );
  }
  if (asked === undefined || asked === bridge) return;
  const kept =
    bridge === null ? 'began without a bridge' : `keeps the bridge it began with, ${bridge}`;
  throw new DrawbridgeError(
    'INVALID_REQUEST',
    `bridgeId: this conversation ${kept}: leave the field out, or begin a new conversation`,
  );
}

/** The run of an earlier request with the same key. Throws IDEMPOTENCY_CONFLICT for a different request. */
function repeated({ log }: Parts, { idempotency }: RunRequest): Run | undefined {
  const known = idempotency && log.findByKey(idempotency.key);
  if (!known || known.digest === idempotency.digest) return known?.run;
  throw keyTaken();
}

/** Also thrown when the id of a new conversation is taken: only a reused key makes the same id twice. */
function keyTaken(): DrawbridgeError {
  return new DrawbridgeError(
    'IDEMPOTENCY_CONFLICT',
    'This Idempotency-Key was used for another request: use a new one',
  );
}
