/** What works below an agent: its subagents and theirs, which the calls of its newest answer started. */
import { type Client, ClientError } from '../../client/index.ts';
import { REQUEST_LIMITS } from '../../shared/limits.ts';
import { printableLine } from '../../shared/text/plain-sight.ts';
import type { Document, ResponseStatus } from '../../shared/wire/documents.ts';
import { isOver } from '../../shared/wire/fold.ts';
import { SubagentState } from '../../shared/wire/subagents.ts';

/** A subagent, as a list shows it below its parent. */
export interface Branch {
  /** Of its conversation. */
  readonly id: string;
  readonly status: ResponseStatus;
  /** In one line, behind a mark that shows how deep it is. */
  readonly title: string;
}

/** The subagents of a conversation, each before those below it. Those of an answer that is over have none below them. */
export async function branchesBelow(client: Client, id: string, depth = 1): Promise<Branch[]> {
  const started = (await newestDocuments(client, id)).flatMap((document) => {
    const state = SubagentState.safeParse(document.metadata['subagent']).data;
    return state?.conversationId === undefined
      ? []
      : [{ ...state, id: state.conversationId, title: titleOf(document, state, depth) }];
  });
  const below = await Promise.all(
    started.map(({ id, status }) => (isOver(status) ? [] : branchesBelow(client, id, depth + 1))),
  );
  return started.flatMap(({ id, status, title }, at) => [
    { id, status, title },
    ...(below[at] ?? []),
  ]);
}

/** Cancels what the subagent is doing. Its parent goes on. */
export async function stopSubagent(client: Client, id: string): Promise<void> {
  const { responses } = await client.getConversation(id, NEWEST);
  const newest = responses.at(-1);
  if (newest && !isOver(newest.status)) await client.cancel(newest.id);
}

function titleOf({ metadata }: Document, { type }: SubagentState, depth: number): string {
  const { description = type } = Object(metadata['arguments']) as {
    readonly description?: unknown;
  };
  return `└${'─'.repeat(2 * depth - 1)} ${printableLine(`${type}: ${description}`, REQUEST_LIMITS.maxNameChars)}`;
}

/** None for a conversation that was deleted meanwhile. */
async function newestDocuments(client: Client, id: string): Promise<readonly Document[]> {
  try {
    const { responses } = await client.getConversation(id, NEWEST);
    return responses.at(-1)?.documents ?? [];
  } catch (error) {
    if (error instanceof ClientError && error.code === 'NOT_FOUND') return [];
    throw error;
  }
}

const NEWEST = { limit: 1 };
