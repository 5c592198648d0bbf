/** The events of a run itself: its message, its first and its last event. Pure. */
import type {
  ResponseStatus,
  UnavailableTool,
  Usage,
  UserMessage,
} from '../../../shared/documents.ts';
import type { TapeEvent } from '../../../shared/events.ts';
import { responseIdOf } from '../../../shared/ids.ts';
import { imagesOf, type MessageContent, textOf } from '../../../shared/requests.ts';
import type { Posted } from '../../ports.ts';
import { addCosts } from '../../upstream/cost.ts';
import { unavailableTools } from '../store/offered-tools.ts';
import type { NewTurn, NewWindow, Run, RunRequest, RunStatus } from '../store/rows.ts';

/** The end status of a run, which the table of runs and the response share. */
export type EndStatus = Extract<RunStatus & ResponseStatus, string>;

/** The message as readers see it. */
export function messageOf({ request, device }: Posted, responseId: string): UserMessage {
  return {
    responseId,
    ...shown(contentOf(request)),
    created: new Date(request.createdMs).toISOString(),
    ...(device !== undefined && { device }),
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

/** What `response_start` tells of a run. */
interface Started extends Pick<Run, 'ordinal'> {
  readonly request: Pick<Run['request'], 'model' | 'mode' | 'tools'>;
  /** Undefined where a lost event is recreated, which then tells nothing of tools. */
  readonly machine?: Run['machine'] | undefined;
}

export function startEvent(
  conversationId: string,
  { ordinal, request, machine }: Started,
  nowMs: number,
): TapeEvent {
  const { model, mode } = request;
  const id = responseIdOf(conversationId, ordinal);
  const created = new Date(nowMs).toISOString();
  const unavailable = machine === undefined ? [] : unavailableTools(request, machine);
  const metadata = unavailable.length > 0 && { metadata: { unavailableTools: unavailable } };
  return {
    type: 'response_start',
    response: { id, conversationId, model, mode, created, ...metadata },
  };
}

/** The work of a run, which its `done` reports. */
export interface Work {
  readonly turns: readonly NewTurn[];
  /** The windows that the run made: their summaries cost tokens too. */
  readonly windows: readonly NewWindow[];
  readonly durationMs: number;
  /** Rows that were written for the run; undefined for a run that never started. */
  readonly rows: number | undefined;
  /** The unavailable tools that its `response_start` told of. */
  readonly unavailableTools?: readonly UnavailableTool[] | undefined;
}

export function doneEvent(
  responseId: string,
  status: EndStatus,
  { turns, windows, durationMs, rows, unavailableTools: unavailable }: Work,
): TapeEvent {
  return {
    type: 'done',
    responseId,
    status,
    usage: usageOf(turns, windows),
    metadata: {
      duration_ms: durationMs,
      toolCallCount: turns.reduce((count, { calls }) => count + calls.length, 0),
      turnCount: turns.length,
      ...(rows !== undefined && { rows }),
      ...(unavailable && { unavailableTools: [...unavailable] }),
    },
  };
}

/**
 * The usage of a run; null when no request reported any, because zeros would be false. A sum without some requests says
 * how many are missing.
 */
function usageOf(turns: Work['turns'], windows: Work['windows']): Usage | null {
  const sum = sumUsage([...turns, ...windows].map(({ usage }) => usage));
  const unreportedRequests =
    turns.filter(({ usage }) => usage === null).length +
    windows.filter(({ isUnreported }) => isUnreported).length;
  return sum && unreportedRequests > 0 ? { ...sum, unreportedRequests } : sum;
}

function sumUsage(usages: readonly (Usage | null)[]): Usage | null {
  return usages.reduce((sum, usage) => {
    if (!usage || !sum) return sum ?? usage;
    const cost = addCosts(sum.cost, usage.cost);
    return {
      promptTokens: sum.promptTokens + usage.promptTokens,
      completionTokens: sum.completionTokens + usage.completionTokens,
      totalTokens: sum.totalTokens + usage.totalTokens,
      ...addOptional('cachedPromptTokens', sum, usage),
      ...addOptional('reasoningTokens', sum, usage),
      ...(cost && { cost }),
    };
  }, null);
}

function addOptional(name: 'cachedPromptTokens' | 'reasoningTokens', a: Usage, b: Usage) {
  return a[name] === undefined && b[name] === undefined
    ? {}
    : { [name]: (a[name] ?? 0) + (b[name] ?? 0) };
}
