/** Parses stored rows. A damaged row is recognised, so that it does not make the whole conversation unreadable. */
import * as z from 'zod';
import { parsePruned } from '../../../shared/text/json.ts';
import { JSON_LIMITS } from '../../../shared/text/limits.ts';
import { PathMention, UrlMention } from '../../../shared/text/mentions.ts';
import { RunBudget } from '../../../shared/wire/budget.ts';
import { ModeDefinition } from '../../../shared/wire/definitions.ts';
import { Metadata, Usage } from '../../../shared/wire/documents.ts';
import { TapeEvent, widthOf } from '../../../shared/wire/events.ts';
import { Findings } from '../../../shared/wire/findings.ts';
import { Mode } from '../../../shared/wire/modes.ts';
import { PlanState } from '../../../shared/wire/plans.ts';
import { MachineContext } from '../../../shared/wire/tunnel.ts';
import { UndoFields } from '../../../shared/wire/undo.ts';
import { errandTypeOf } from './errands.ts';
import {
  Call,
  type Lost,
  type Machine,
  type NewTurn,
  type RunEnd,
  type RunRequest,
  type SentResult,
  type Steer,
  SubagentRole,
} from './rows.ts';

/**
 * The value of a row's JSON; null where it is damaged: no JSON, or without fields that this version needs. Values
 * nested too deeply are left out. The schemas check only what the code would fail on, and nothing that is slow to check
 * or may differ between versions.
 */
export function readStored<Stored>(json: unknown, schema: z.ZodType<Stored>): Stored | null {
  const value = parse(json);
  // The value itself: the schema would drop fields that a later version has added.
  return schema.safeParse(value).success ? (value as Stored) : null;
}

/** A stored request. Its fields say its type, and not the row's `type`: rows of earlier versions have none. */
export function readRequest(json: unknown): RunRequest | null {
  const stored = readStored(json, REQUEST);
  return stored && Object.assign(stored, { type: errandTypeOf(stored) });
}

/** Has a schema prove a cast to a type that it checks less of. It names each field, also {@link UNCHECKED} ones. */
function provesStored<Stored>(
  schema: z.ZodType & { readonly shape: Readonly<Record<KeyOf<Stored>, z.ZodType>> },
): z.ZodType<Stored> {
  return schema as z.ZodType as z.ZodType<Stored>;
}

/** The fields of every arm of a union, where `keyof` has only those of all arms. */
type KeyOf<Stored> = Stored extends unknown ? keyof Stored : never;

/** No stored value of such a field makes the code fail. */
const UNCHECKED = z.unknown().optional();

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

/** Text or parts. Images and places are checked when the message arrives. */
const Content = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
      PathMention.omit({ isCertain: true }),
      UrlMention,
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

const REQUEST = provesStored<RunRequest>(
  RUN_MODE.extend({
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
    demand: z.union([z.literal('required'), z.object({ name: z.string() })]).optional(),
    output: z.object({ schema: z.record(z.string(), z.unknown()).optional() }).optional(),
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
    subagent: SubagentRole.optional(),
    planFile: z.string().optional(),
    save: z.object({ path: z.string(), contents: z.string() }).optional(),
    undo: UndoFields.extend({ preview: z.boolean() }).optional(),
    compact: z.literal(true).optional(),
    guest: z.object({ callId: z.string(), path: z.string() }).optional(),
    type: UNCHECKED, // Follows from the fields.
    withReasoning: UNCHECKED,
    sampling: UNCHECKED,
    unasking: UNCHECKED,
    worktree: UNCHECKED,
    idempotency: Idempotency,
    trace: z.string().optional(),
    createdMs: z.number().max(MAX_DATE_MS),
  }),
);

/** A machine as stored: `offers` is the digest of a set that has its own row, because many runs share it. */
export type StoredMachine = Omit<Machine, 'offers'> & { readonly offers?: string };

export const MACHINE = provesStored<StoredMachine>(
  z.object({
    tools: z.array(z.string()),
    context: MachineContext,
    isConnected: UNCHECKED,
    offers: z.string().optional(),
    findings: Findings.optional(),
    isInWorktree: z.boolean().optional(),
  }),
);

export const RUN_END: z.ZodType<RunEnd> = z.object({
  status: z.enum(['completed', 'error', 'cancelled']),
  last: z.int(),
});

export const TURN: z.ZodType<NewTurn> = z.object({
  text: z.string(),
  reasoning: z.string().nullable(),
  reasoningDetails: z.array(z.unknown()).optional(),
  calls: z.array(Call),
  model: z.string().optional(),
  usage: Usage.nullable(),
  output: z.string().optional(),
  adjusted: z.array(z.string()).optional(),
  estimate: Usage.optional(),
  lastSequence: z.int(),
  atMs: z.number(),
  end: RUN_END.optional(),
});

export const RESULT = provesStored<SentResult>(
  z.object({
    status: z.enum(['success', 'error']),
    code: z.string().optional(),
    data: z.string(),
    metadata: Metadata.optional(),
    wholeChars: UNCHECKED, // The statement that reads the row sets it.
  }),
);

export const STEER = provesStored<Omit<Steer, 'number' | 'run' | 'turns'>>(
  z.object({
    content: Content,
    plan: PlanState.optional(),
    attachments: Findings.shape.attachments.optional(),
    isNote: z.literal(true).optional(),
    switched: RUN_MODE.optional(),
    idempotency: Idempotency,
  }),
);
