/** The bodies of Cursor's Cloud Agents API v1, as far as they fit a machine of one's own. */
import * as z from 'zod';
import { Metadata, ToolOutcome } from '../../shared/wire/documents.ts';

const Image = z.union([
  z.strictObject({ url: z.string(), dimension: z.unknown().optional() }),
  z.strictObject({ data: z.string(), mimeType: z.string(), dimension: z.unknown().optional() }),
]);
export type Image = z.infer<typeof Image>;

/** Images of one prompt in Cursor's shape, as in Cursor's own API. */
const MAX_IMAGES = 5;

const Prompt = z.strictObject({
  text: z.string().min(1),
  images: z.array(Image).max(MAX_IMAGES).optional(),
});

const CursorMode = z.enum(['agent', 'plan']);

/** `params` are not used: a model's settings are the operator's. */
const CursorModel = z.strictObject({
  id: z.string().min(1),
  params: z.array(z.unknown()).optional(),
});

/** The id that a client gives its agent. Its last four digits are not kept. */
const AgentId = z
  .string()
  .regex(
    /^bc-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    'Use bc- and a random UUID in lower case',
  );

/** Refused with NOT_IMPLEMENTED where they ask for something: the agent works on the bridge's own repository. */
const Elsewhere = z.object({
  autoCreatePR: z.unknown().optional(),
  customSubagents: z.unknown().optional(),
  envVars: z.unknown().optional(),
  mcpServers: z.unknown().optional(),
  repos: z.unknown().optional(),
  skipReviewerRequest: z.unknown().optional(),
  workOnCurrentBranch: z.unknown().optional(),
});

/** `POST /v1/agents`. */
export const CursorAgentRequest = z.strictObject({
  ...Elsewhere.shape,
  agentId: AgentId.optional(),
  prompt: Prompt,
  model: CursorModel.optional(),
  name: z.string().min(1).max(100).optional(),
  env: z.strictObject({ type: z.literal('machine'), name: z.string().optional() }).optional(),
  mode: CursorMode.optional(),
});

/** `POST /v1/agents/{id}/runs`. */
export const CursorRunRequest = z.strictObject({
  mcpServers: z.unknown().optional(),
  prompt: Prompt,
  /** Absent: that of the run before. */
  model: CursorModel.optional(),
  mode: CursorMode.optional(),
});

export const CursorAgent = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(['ACTIVE', 'ARCHIVED']),
  env: z.object({ type: z.literal('machine'), name: z.string().optional() }),
  url: z.string(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  /** Absent in the list. */
  latestRunId: z.string().optional(),
});
export type CursorAgent = z.infer<typeof CursorAgent>;

const RunStatus = z.enum(['CREATING', 'RUNNING', 'FINISHED', 'ERROR', 'CANCELLED', 'EXPIRED']);

export const CursorRun = z.object({
  id: z.string(),
  agentId: z.string(),
  status: RunStatus,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  durationMs: z.int().optional(),
  result: z.string().optional(),
});
export type CursorRun = z.infer<typeof CursorRun>;

export const CursorAgents = z.object({
  items: z.array(CursorAgent),
  nextCursor: z.string().optional(),
});

/** `GET /v1/agents/{id}/runs`: the newest first. */
export const CursorRuns = z.object({
  items: z.array(CursorRun),
  nextCursor: z.string().optional(),
});

/** `inputTokens` are those of the prompt that no cache was read or written for. */
const CursorTokens = z.object({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cacheWriteTokens: z.int().nonnegative(),
  cacheReadTokens: z.int().nonnegative(),
  totalTokens: z.int().nonnegative(),
});
export type CursorTokens = z.infer<typeof CursorTokens>;

/** `GET /v1/agents/{id}/usage`: the newest run first, with zeros where nothing is known. */
export const CursorUsage = z.object({
  totalUsage: CursorTokens,
  runs: z.array(z.object({ id: z.string(), usage: CursorTokens })),
});
export type CursorUsage = z.infer<typeof CursorUsage>;

export const CursorId = z.object({ id: z.string() });

/** `GET /v1/me`. */
export const CursorMe = z.object({ apiKeyName: z.string(), createdAt: z.iso.datetime() });

/** The answer to `POST /v1/agents`. */
export const CursorAgentAndRun = z.object({ agent: CursorAgent, run: CursorRun });

/** The answer to `POST /v1/agents/{id}/runs`. */
export const CursorNewRun = z.object({ run: CursorRun });

/** More of a text. */
const Words = z.object({ text: z.string() });

/** A frame of a run's stream: its name and its data. */
export const CursorRunEvent = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('status'),
    data: z.object({ runId: z.string(), status: RunStatus }),
  }),
  z.object({ event: z.literal('assistant'), data: Words }),
  z.object({ event: z.literal('thinking'), data: Words }),
  z.object({
    event: z.literal('tool_call'),
    data: z.object({
      callId: z.string(),
      name: z.string(),
      status: z.enum(['running', 'completed']),
      args: Metadata.optional(),
      /** Present once the call has completed. */
      result: ToolOutcome.optional(),
    }),
  }),
  z.object({
    event: z.literal('interaction_update'),
    /** The frame before it, in the form of Cursor's SDK. */
    data: z.looseObject({ type: z.string() }),
  }),
  z.object({ event: z.literal('heartbeat'), data: z.object({}) }),
  z.object({
    event: z.literal('result'),
    data: z.object({
      runId: z.string(),
      status: RunStatus,
      text: z.string().optional(),
      durationMs: z.int().optional(),
    }),
  }),
  z.object({
    event: z.literal('error'),
    data: z.object({ code: z.string(), message: z.string() }),
  }),
  z.object({ event: z.literal('done'), data: z.object({}) }),
]);
export type CursorRunEvent = z.infer<typeof CursorRunEvent>;
