/** What a request in Cursor's shapes names, and the runs that it reads. */
import type { Context } from 'hono';
import * as z from 'zod';
import { DrawbridgeError } from '../../shared/errors.ts';
import { ConversationId, parseResponseId, ResponseId } from '../../shared/ids.ts';
import type { ChatResponse } from '../../shared/wire/documents.ts';
import type { Core } from './core.ts';
import type { CursorRun, CursorRuns, CursorUsage } from './schemas.ts';
import { conversationIdOf, runIdOf, toRun, toUsage } from './shapes.ts';

const ID = { description: 'An agent: `bc-<uuid>`.', zod: z.string() };

/** The parameters in the path of an agent. */
export const PARAMS = { id: ID } as const;

/** The parameters in the path of a run. */
export const RUN_PARAMS = {
  id: ID,
  runId: { description: 'A run: `run-<uuid>`.', zod: z.string() },
} as const;

/** The id of the agent as the path has it. Answers repeat it. */
export function agentIdIn(c: Context): string {
  return c.req.param('id') ?? '';
}

/** The conversation of the agent that the path names. Throws NOT_FOUND where it names none. */
export function agentOf(c: Context): string {
  const { data } = ConversationId.safeParse(conversationIdOf(agentIdIn(c)));
  if (data !== undefined) return data;
  throw new DrawbridgeError('NOT_FOUND', 'There is no such agent');
}

/** The response of the run that the path names. Throws NOT_FOUND where it names none. */
export function responseIdOf(c: Context): string {
  const { data } = ResponseId.safeParse(c.req.param('runId')?.replace(/^run-/, 'chat_'));
  if (data !== undefined) return data;
  throw noRun();
}

/** Throws NOT_FOUND for a run of another agent, and where there is no such agent. */
export async function readResponse(
  core: Core,
  agent: string,
  responseId: string,
): Promise<ChatResponse> {
  await core.read(agent);
  const { conversationId, ordinal } = parseResponseId(responseId);
  const response = conversationId === agent ? await core.response(agent, ordinal) : null;
  if (!response) throw noRun();
  return response;
}

/** A run of the agent that the path names. Throws like {@link readResponse}. */
export async function readRun(c: Context, core: Core, responseId: string): Promise<CursorRun> {
  return toRun(await readResponse(core, agentOf(c), responseId), agentIdIn(c));
}

/** What the agent's runs have spent, or the one run. Throws NOT_FOUND where there is no such agent or run. */
export async function readUsage(
  core: Core,
  agent: string,
  runId: string | undefined,
): Promise<CursorUsage> {
  const all = await core.usages(agent);
  const usages = all.filter((one) => runId === undefined || runIdOf(one.responseId) === runId);
  if (runId !== undefined && usages.length === 0) throw noRun();
  return toUsage(usages);
}

/** A page of a list. */
interface RunPage {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The runs of a part of the conversation, the newest first, without those that wait. May be fewer than the limit. */
export async function listRuns(
  c: Context,
  core: Core,
  { limit, cursor }: RunPage,
): Promise<z.infer<typeof CursorRuns>> {
  const agent = agentOf(c);
  await core.read(agent);
  const before = cursor === undefined ? null : ordinalOf(cursor, agent);
  const part = await core.responses(agent, { limit, before });
  if (!part) throw badCursor();
  const items = part.responses.toReversed().map((response) => toRun(response, agentIdIn(c)));
  const { earlier } = part;
  return { items, ...(earlier !== null && { nextCursor: runIdOf(earlier) }) };
}

function ordinalOf(cursor: string, agent: string): number {
  const { success, data } = ResponseId.safeParse(cursor.replace(/^run-/, 'chat_'));
  const named = success ? parseResponseId(data) : null;
  if (named?.conversationId !== agent) throw badCursor();
  return named.ordinal;
}

function noRun(): DrawbridgeError {
  return new DrawbridgeError('NOT_FOUND', 'There is no such run');
}

function badCursor(): DrawbridgeError {
  return new DrawbridgeError('INVALID_CURSOR', 'cursor: use the nextCursor of a page of this list');
}
