/** Parses stored rows. A damaged row is recognised, so that it does not make the whole conversation unreadable. */
import * as z from 'zod';
import { parsePruned } from '../../../shared/text/json.ts';
import { JSON_LIMITS } from '../../../shared/text/limits.ts';
import { ClosedWorktree } from '../../../shared/tools/worktree.ts';
import { RunBudget } from '../../../shared/wire/budget.ts';
import { ModeDefinition } from '../../../shared/wire/definitions.ts';
import { Metadata, TaskSpent, Todo, Usage } from '../../../shared/wire/documents.ts';
import { TapeEvent, widthOf } from '../../../shared/wire/events.ts';
import { Findings } from '../../../shared/wire/findings.ts';
import { Mode } from '../../../shared/wire/modes.ts';
import { OfferSet } from '../../../shared/wire/offer.ts';
import { PlanState } from '../../../shared/wire/plans.ts';
import { MachineContext } from '../../../shared/wire/tunnel.ts';
import { UndoFields } from '../../../shared/wire/undo.ts';
import type {
  AgentSettings,
  Lost,
  Machine,
  Parent,
  RunEnd,
  RunRequest,
  SentResult,
  Steer,
  Turn,
  Window,
  WorktreeClosing,
} from './rows.ts';

/**
 * The value of a row's JSON; null where it is damaged: no JSON, or without fields that this version needs. Values
 * nested too deeply are left out. The schemas check only what the code would fail on, and nothing that is slow to check
 * or may differ between versions.
 */
export function readStored<Stored>(json: unknown, shape: StoredShape<Stored>): Stored | null {
  const value = parse(json);
  // The value itself: the schema would drop fields that a later version has added.
  return shape.schema.safeParse(value).success ? (value as Stored) : null;
}

/** A stored request. Its fields say its type, and not the row's `type`: rows of earlier versions have none. */
export function readRequest(json: unknown): RunRequest | null {
  const stored = readStored(json, REQUEST);
  return stored && Object.assign(stored, { type: typeOf(stored) });
}

function typeOf(stored: RunRequest): RunRequest['type'] {
  if ('guest' in stored) return 'guest';
  if ('save' in stored) return 'save';
  if ('undo' in stored) return 'undo';
  if ('compact' in stored) return 'compact';
  if ('planFile' in stored) return 'plan_file';
  if ('plan' in stored) return 'plan';
  return 'subagent' in stored ? 'subagent' : 'message';
}

/** A schema that proves a cast. */
interface StoredShape<Stored> {
  readonly schema: z.ZodType;
  /** Never set: it ties the type to its schema. */
  readonly of?: Stored;
}

/** The events of a tape row, with a {@link Lost} for each damaged event, or one for the whole row. */
export function readEvents(json: unknown): (TapeEvent | Lost)[] {
  const events = parse(json);
  if (!Array.isArray(events)) return [{ type: 'lost', width: 1 }];
  return events.map((event: unknown) => (isEvent(event) ? event : lostAs(event)));
}

/** Most events are deltas, which are checked without a schema because that is faster. */
function isEvent(event: unknown): event is TapeEvent {
  const { type, documentId, delta } = Object(event);
  if (type === 'content_delta' || type === 'tool_output') {
    return typeof documentId === 'string' && typeof delta === 'string';
  }
  return TapeEvent.safeParse(event).success;
}

/** The substitute of a damaged event, with the width that the event most likely had. */
function lostAs(event: unknown): Lost {
  const { delta } = Object(event);
  return { type: 'lost', width: typeof delta === 'string' ? Math.max(1, delta.length) : 1 };
}

/** As {@link widthOf}, also for lost events. */
export function storedWidth(event: TapeEvent | Lost): number {
  return event.type === 'lost' ? event.width : widthOf(event);
}

function parse(json: unknown): unknown {
  if (typeof json !== 'string') return undefined;
  try {
    return parsePruned(json, JSON_LIMITS.maxDepth + JSON_LIMITS.envelope);
  } catch {
    return undefined; // Damaged: the caller reports it.
  }
}

/** The last moment that a Date can hold (ECMA-262, section 21.4.1.1). */
const MAX_DATE_MS = 8.64e15;

/** Text or parts. Images are checked when the message arrives. */
const Content = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
    ]),
  ),
]);

const Idempotency = z.object({ key: z.string(), digest: z.string() }).optional();

const Place = z.object({
  path: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
});

const RUN_MODE = z.object({ mode: Mode, own: ModeDefinition.optional() });

export const PARENT: StoredShape<Parent> = {
  schema: z.object({ conversationId: z.string(), callId: z.string() }),
};

const REQUEST: StoredShape<RunRequest> = {
  schema: RUN_MODE.extend({
    model: z.string(),
    wantedMode: z.object({ name: z.string(), isModelOpen: z.boolean() }).optional(),
    questions: z.object({ afterSeconds: z.number(), otherwise: z.string().optional() }).optional(),
    messages: z
      .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: Content }))
      .min(1),
    tools: z.record(z.string(), z.object()).optional(),
    clientTools: z
      .array(z.object({ name: z.string(), parameters: z.record(z.string(), z.unknown()) }))
      .optional(),
    context: z
      .object({
        workspacePath: z.string().optional(),
        openFiles: z
          .array(
            z.union([z.string(), z.object({ path: z.string(), content: z.string().optional() })]),
          )
          .optional(),
        recentFiles: z.array(z.string()).optional(),
        cursor: Place.optional(),
        selection: Place.extend({ text: z.string() }).optional(),
        linterErrors: z.array(Place.extend({ message: z.string() })).optional(),
        projectLayout: z.string().optional(),
        gitStatus: z.string().optional(),
        editHistory: z
          .array(z.object({ path: z.string(), diff: z.string().optional() }))
          .optional(),
        rules: z.array(z.string()).optional(),
      })
      .optional(),
    budget: RunBudget.optional(),
    plan: PlanState.optional(),
    subagent: z
      .object({
        type: z.string(),
        depth: z.int(),
        mayStart: z.int(),
        isUnattended: z.literal(true).optional(),
        definition: z.object({ path: z.string(), text: z.string() }).optional(),
      })
      .optional(),
    planFile: z.string().optional(),
    save: z.object({ path: z.string(), contents: z.string() }).optional(),
    undo: UndoFields.extend({ preview: z.boolean() }).optional(),
    compact: z.literal(true).optional(),
    guest: z.object({ callId: z.string(), path: z.string() }).optional(),
    idempotency: Idempotency,
    trace: z.string().optional(),
    createdMs: z.number().max(MAX_DATE_MS),
  }),
};

export const AGENT_SETTINGS: StoredShape<AgentSettings> = {
  schema: z.object({
    webhook: z
      .object({ url: z.string(), secret: z.string(), isGone: z.boolean().optional() })
      .optional(),
    worktree: z
      .object({ branch: z.string().optional(), base: z.string().optional(), commit: z.boolean() })
      .optional(),
  }),
};

export const WORKTREE_CLOSING: StoredShape<WorktreeClosing> = {
  schema: z.object({ callId: z.string(), closed: ClosedWorktree.nullable().optional() }),
};

/** A machine as stored: `offers` is the digest of a set that has its own row, because many runs share it. */
export type StoredMachine = Omit<Machine, 'offers'> & { readonly offers?: string };

export const MACHINE: StoredShape<StoredMachine> = {
  schema: z.object({
    tools: z.array(z.string()),
    context: MachineContext,
    offers: z.string().optional(),
    findings: Findings.optional(),
    isInWorktree: z.boolean().optional(),
  }),
};

export const OFFERS: StoredShape<OfferSet> = { schema: OfferSet };

export const RUN_END: StoredShape<RunEnd> = {
  schema: z.object({ status: z.enum(['completed', 'error', 'cancelled']), last: z.int() }),
};

const StoredCall = z.object({
  callId: z.string(),
  upstreamId: z.string(),
  documentId: z.string(),
  name: z.string(),
  rawArguments: z.string(),
  arguments: Metadata.nullable(),
  problem: z.string().optional(),
  ignored: z.string().optional(),
  extra: Metadata.optional(),
});

export const TURN: StoredShape<Omit<Turn, 'number' | 'run'>> = {
  schema: z.object({
    text: z.string(),
    reasoning: z.string().nullable(),
    reasoningDetails: z.array(z.unknown()).optional(),
    calls: z.array(StoredCall),
    model: z.string().optional(),
    usage: Usage.nullable(),
    estimate: Usage.optional(),
    lastSequence: z.int(),
    atMs: z.number(),
    end: RUN_END.schema.optional(),
  }),
};

export const RESULT: StoredShape<SentResult> = {
  schema: z.object({
    status: z.enum(['success', 'error']),
    code: z.string().optional(),
    data: z.string(),
    metadata: Metadata.optional(),
  }),
};

export const STEER: StoredShape<Omit<Steer, 'number' | 'run' | 'turns'>> = {
  schema: z.object({
    content: Content,
    plan: PlanState.optional(),
    attachments: Findings.shape.attachments.optional(),
    isNote: z.literal(true).optional(),
    switched: RUN_MODE.optional(),
    idempotency: Idempotency,
  }),
};

export const TASK_SPENT: StoredShape<TaskSpent> = { schema: TaskSpent };

export const WINDOW: StoredShape<Omit<Window, 'number' | 'run'>> = {
  schema: z.object({
    from: z.object({ run: z.int(), turns: z.int() }),
    prunedThrough: z.int(),
    digest: z
      .object({
        summary: z.string(),
        words: z.array(z.string()),
        plan: z.string().nullable(),
        todos: z.array(Todo),
        skills: z.array(z.object({ name: z.string(), text: z.string() })).optional(),
      })
      .nullable(),
    model: z.string().optional(),
    usage: Usage.nullable(),
    isUnreported: z.literal(true).optional(),
    estimate: Usage.optional(),
    scale: z.object({
      since: z.int(),
      tokensPerChar: z.number(),
      refused: z.object({ model: z.string(), chars: z.number() }).nullable(),
    }),
  }),
};
