/** What a request in Cursor's shapes names, and the runs that it reads. */
import type { Context } from 'hono';
import * as z from 'zod';
import { DrawbridgeError } from '../../../shared/errors.ts';
import { ConversationId, parseResponseId, ResponseId } from '../../../shared/ids.ts';
import type { ChatResponse, ConversationView } from '../../../shared/wire/documents.ts';
import { type AppContext, personOf } from '../../account/caller.ts';
import { readNewest, readWhole } from '../../conversation/reading/requests.ts';
import { parseId } from '../../desk/parse.ts';
import { conversationOf } from '../../objects.ts';
import { type Outcome, unwrap } from '../../outcome.ts';
import type { Caller, ResponseUsage } from '../../ports.ts';
import { reach } from '../../reach.ts';
import { readAgent } from '../desk.ts';
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
export function agentIdIn(c: Context<AppContext>): string {
  return c.req.param('id') ?? '';
}

/** Throws NOT_FOUND where the path names no agent. */
export function callerOf(c: Context<AppContext>): Caller {
  const id = conversationIdOf(agentIdIn(c));
  return { ...personOf(c), conversationId: parseId(ConversationId, id, 'agent') };
}

/** Throws NOT_FOUND where the path names no run. */
export function responseIdOf(c: Context<AppContext>): string {
  return parseId(ResponseId, c.req.param('runId')?.replace(/^run-/, 'chat_'), 'run');
}

/** The response behind a run. Throws NOT_FOUND for a run of another agent, and where there is no such agent. */
export async function readResponse(
  c: Context<AppContext>,
  caller: Caller,
  responseId: string,
): Promise<ChatResponse> {
  await readAgent(c.env, caller);
  const { conversationId, ordinal } = parseResponseId(responseId);
  if (conversationId !== caller.conversationId) throw noRun();
  const response = await readWhole(c.env, { caller, ordinal });
  if (!response.ok) throw noRun();
  return (await response.json()) as ChatResponse;
}

/** The run that the path names. Throws like {@link readResponse}. */
export async function readRun(c: Context<AppContext>, responseId: string): Promise<CursorRun> {
  return toRun(await readResponse(c, callerOf(c), responseId), agentIdIn(c));
}

/** What the agent's runs have spent, or the one run. Throws NOT_FOUND where there is no such agent or run. */
export async function readUsage(
  c: Context<AppContext>,
  caller: Caller,
  runId: string | undefined,
): Promise<CursorUsage> {
  const read = () => conversationOf(c.env, caller).usages(caller);
  const all = unwrap<ResponseUsage[]>(await reach<Outcome<ResponseUsage[]>>(read));
  const usages = all.filter((one) => runId === undefined || runIdOf(one.responseId) === runId);
  if (runId !== undefined && usages.length === 0) throw noRun();
  return toUsage(usages);
}

/** A page of a list. */
interface RunPage {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * The runs of one part of the conversation, the newest first: fewer than the limit where responses are large. Leaves out
 * runs that still wait for their turn.
 */
export async function listRuns(
  c: Context<AppContext>,
  caller: Caller,
  { limit, cursor }: RunPage,
): Promise<z.infer<typeof CursorRuns>> {
  await readAgent(c.env, caller);
  const before = cursor === undefined ? null : ordinalOf(cursor, caller);
  const part = await readNewest(c.env, caller, { limit, before });
  if (!part.ok) throw badCursor();
  const { responses, earlier } = (await part.json()) as ConversationView;
  const items = responses.toReversed().map((response) => toRun(response, agentIdIn(c)));
  return { items, ...(earlier !== null && { nextCursor: runIdOf(earlier) }) };
}

function ordinalOf(cursor: string, { conversationId }: Caller): number {
  const { success, data } = ResponseId.safeParse(cursor.replace(/^run-/, 'chat_'));
  const named = success ? parseResponseId(data) : null;
  if (named?.conversationId !== conversationId) throw badCursor();
  return named.ordinal;
}

function noRun(): DrawbridgeError {
  return new DrawbridgeError('NOT_FOUND', 'There is no such run');
}

function badCursor(): DrawbridgeError {
  return new DrawbridgeError('INVALID_CURSOR', 'cursor: use the nextCursor of a page of this list');
}
