/** The events of a run itself: its message, its first and its last event. Pure. */

import { imagesOf, type MessageContent, textOf } from '../../../shared/api/requests.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import type { BudgetState } from '../../../shared/wire/budget.ts';
import type {
  AttachedMention,
  ResponseMetadata,
  ResponseStatus,
  UserMessage,
} from '../../../shared/wire/documents.ts';
import type { TapeEvent } from '../../../shared/wire/events.ts';
import type { Attachment } from '../../../shared/wire/findings.ts';
import type { Posted } from '../../ports/conversation.ts';
import { unavailableTools } from '../log/offered-tools.ts';
import { isPreview } from '../store/errands.ts';
import type { Run, RunRequest, RunStatus } from '../store/rows.ts';
import { lastPromptOf, type Spending, usageOf } from './spending.ts';

/** The end status of a run, which the table of runs and the response share. */
export type EndStatus = Extract<RunStatus & ResponseStatus, string>;

/** The message as readers see it. */
export function messageOf({ request, device }: Posted, responseId: string): UserMessage {
  return {
    responseId,
    ...shown(contentOf(request)),
    created: new Date(request.createdMs).toISOString(),
    ...(device !== undefined && { device }),
    ...(isPreview(request) && { preview: true }),
  };
}

/** A message's content as readers see it. */
export function shown(content: MessageContent): Pick<UserMessage, 'content' | 'imageCount'> {
  const imageCount = imagesOf(content).length;
  return { content: textOf(content), ...(imageCount > 0 && { imageCount }) };
}

/** The user's message: the last one of the request. */
export function contentOf({ messages }: Pick<RunRequest, 'messages'>): MessageContent {
  return messages.at(-1)?.content ?? '';
}

/** What `response_start` says about a run. A lost event that is recreated says nothing about tools. */
type StartingRun =
  | (Pick<Run, 'ordinal' | 'request'> & { readonly machine: Run['machine'] })
  | (Pick<Run, 'ordinal'> & {
      readonly request: Pick<Run['request'], 'model' | 'mode' | 'own' | 'worktree'>;
      readonly machine?: undefined;
    });

export function startEvent(conversationId: string, run: StartingRun, nowMs: number): TapeEvent {
  const { ordinal, request, machine } = run;
  const { model, mode, own } = request;
  const ownMode = own && { ownMode: own.name };
  const id = responseIdOf(conversationId, ordinal);
  const created = new Date(nowMs).toISOString();
  const unavailable = run.machine === undefined ? [] : unavailableTools(run.request, run.machine);
  // In a worktree that is not made yet they are looked up again.
  const isLater = request.worktree === true && !machine?.isInWorktree;
  const attachments = isLater ? [] : attachedTo(machine?.findings?.attachments);
  const metadata = {
    ...(unavailable.length > 0 && { unavailableTools: unavailable }),
    ...(attachments.length > 0 && { attachments }),
  };
  const hasMetadata = Object.keys(metadata).length > 0;
  return {
    type: 'response_start',
    response: {
      id,
      conversationId,
      model,
      mode,
      ...ownMode,
      created,
      ...(hasMetadata && { metadata }),
    },
  };
}

/** No event where nothing was looked up. */
export function attachedEvents(
  responseId: string,
  found: readonly Attachment[] | undefined,
): TapeEvent[] {
  const attachments = attachedTo(found);
  return attachments.length === 0 ? [] : [{ type: 'attached', responseId, attachments }];
}

/** What became of the mentions of a message. */
function attachedTo(attachments: readonly Attachment[] = []): AttachedMention[] {
  return attachments.map(({ type, name, text }) =>
    type === 'none' ? { type, name, reason: text } : { type, name },
  );
}

/** The work of a run, which its `done` reports. */
export interface RunWork extends Spending {
  readonly durationMs: number;
  /** Rows that were written for the run; undefined for a run that never started. */
  readonly rows: number | undefined;
  /** What its `response_start` sent. */
  readonly sent: Pick<ResponseMetadata, 'unavailableTools' | 'attachments' | 'adjusted' | 'output'>;
  readonly budget?: BudgetState | undefined;
}

export function doneEvent(
  responseId: string,
  status: EndStatus,
  { durationMs, rows, sent, budget, ...spending }: RunWork,
): TapeEvent {
  const { turns } = spending;
  const last = turns.at(-1)?.usage;
  const lastPrompt = lastPromptOf(spending);
  return {
    type: 'done',
    responseId,
    status,
    usage: usageOf(spending),
    metadata: {
      duration_ms: durationMs,
      toolCallCount: turns.reduce((count, { calls }) => count + calls.length, 0),
      turnCount: turns.length,
      ...(last && { contextTokens: last.promptTokens + last.completionTokens }),
      ...(lastPrompt && { lastPrompt }),
      ...(rows !== undefined && { rows }),
      ...sent,
      ...(budget && { budget }),
    },
  };
}
