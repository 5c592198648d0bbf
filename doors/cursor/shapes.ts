/** Translates between Cursor's shapes and ours. Ids keep their UUID and change their prefix. Pure. */
import type { AgentInfo } from '../../shared/api/agents.ts';
import { DrawbridgeError } from '../../shared/errors.ts';
import { newConversationId } from '../../shared/ids.ts';
import { renderWords } from '../../shared/shown/markdown.ts';
import { factsOf } from '../../shared/wire/document-types.ts';
import type { ChatResponse, Document, ResponseStatus, Usage } from '../../shared/wire/documents.ts';
import { isOver } from '../../shared/wire/fold.ts';
import type { SpentByResponse } from './core.ts';
import type { CursorAgent, CursorRun, CursorTokens, CursorUsage, Image } from './schemas.ts';

/** `bc-<uuid>` for a conversation. */
function agentIdOf(conversationId: string): string {
  return conversationId.replace('conv_', 'bc-');
}

/** The inverse of {@link agentIdOf}. A client's own id has other digits at its end, where those of runs count. */
export function conversationIdOf(agentId: string): string {
  return newConversationId(agentId.replace(/^bc-/, ''));
}

/** `run-<uuid>` for a response. */
export function runIdOf(responseId: string): string {
  return responseId.replace('chat_', 'run-');
}

/** `origin` is the server's own, `agentId` as for {@link toRun}. `responseId` is the newest response, if it is known. */
export function toAgent(
  { id, title, status, created, updated }: AgentInfo,
  origin: string,
  {
    agentId = agentIdOf(id),
    responseId,
  }: { agentId?: string | undefined; responseId?: string } = {},
): CursorAgent {
  return {
    id: agentId,
    name: title,
    status: status === 'archived' ? 'ARCHIVED' : 'ACTIVE',
    env: { type: 'machine' },
    url: `${origin}/api/v1/agents/${id}`,
    createdAt: created,
    updatedAt: updated,
    ...(responseId !== undefined && { latestRunId: runIdOf(responseId) }),
  };
}

/** `agentId` is the agent's id as the request has it. */
export function toRun(
  response: ChatResponse,
  agentId = agentIdOf(response.conversationId),
): CursorRun {
  const { id, status, created, documents, metadata } = response;
  const hasEnded = isOver(status);
  const durationMs = Math.round(metadata.duration_ms);
  const updated = new Date(Date.parse(created) + (hasEnded ? durationMs : 0)).toISOString();
  const said = hasEnded && lastWords(documents);
  return {
    id: runIdOf(id),
    agentId,
    status: STATUSES[status],
    createdAt: created,
    updatedAt: updated,
    ...(hasEnded && { durationMs }),
    ...(said && { result: said }),
  };
}

/** The runs in the order of `responses`, and their sum. */
export function toUsage(responses: readonly SpentByResponse[]): CursorUsage {
  const runs = responses.map(({ responseId, usage }) => ({
    id: runIdOf(responseId),
    usage: toTokens(usage),
  }));
  const sum = (name: keyof CursorTokens) => runs.reduce((all, { usage }) => all + usage[name], 0);
  const totalUsage = {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    cacheReadTokens: sum('cacheReadTokens'),
    totalTokens: sum('totalTokens'),
  };
  return { totalUsage, runs };
}

function toTokens(usage: Usage | null): CursorTokens {
  const { promptTokens = 0, completionTokens = 0, totalTokens = 0 } = usage ?? {};
  const { cacheWriteTokens = 0, cachedPromptTokens = 0 } = usage ?? {};
  return {
    inputTokens: Math.max(0, promptTokens - cachedPromptTokens - cacheWriteTokens),
    outputTokens: completionTokens,
    cacheWriteTokens,
    cacheReadTokens: cachedPromptTokens,
    totalTokens,
  };
}

/** The model's last message, from the documents that it was cut into. */
function lastWords(documents: readonly Document[]): string {
  const end = documents.findLastIndex(isWords) + 1;
  const start = documents.slice(0, end).findLastIndex((document) => !isWords(document)) + 1;
  return renderWords(documents.slice(start, end)).content;
}

/** Whether the document is a part of what the model says. */
function isWords({ type }: Pick<Document, 'type'>): boolean {
  const { voice, finishedBy } = factsOf(type);
  return voice === 'answer' && finishedBy === null;
}

const STATUSES: Readonly<Record<ResponseStatus, CursorRun['status']>> = {
  queued: 'CREATING',
  streaming: 'RUNNING',
  waiting: 'RUNNING',
  completed: 'FINISHED',
  error: 'ERROR',
  cancelled: 'CANCELLED',
};

/** The content of a message, which the caller parses as such. */
export function contentOf({ text, images = [] }: { text: string; images?: Image[] | undefined }) {
  if (images.length === 0) return text;
  const parts = images.map((image) => {
    const url = 'url' in image ? image.url : `data:${image.mimeType};base64,${image.data}`;
    return { type: 'image_url', image_url: { url } };
  });
  return [{ type: 'text', text }, ...parts];
}

/** Throws NOT_IMPLEMENTED for a field that asks for something; `false` and an empty list ask for nothing. */
export function refuseElsewhere(body: Readonly<Record<string, unknown>>): void {
  const field = ELSEWHERE.find((name) => {
    const value = body[name];
    const isNothing = value === undefined || value === false;
    return !isNothing && !(Array.isArray(value) && value.length === 0);
  });
  if (field) throw new DrawbridgeError('NOT_IMPLEMENTED', `${field}: ${REASON}`);
}

const ELSEWHERE = [
  'autoCreatePR',
  'customSubagents',
  'envVars',
  'mcpServers',
  'repos',
  'skipReviewerRequest',
  'workOnCurrentBranch',
];

const REASON =
  "this server works on the repository of the bridge's machine, and takes no such setting: leave it out.";
