/** Writes a conversation as one Markdown page, for people. Holds one view at a time. */
import type { ConversationExport } from '../../shared/api/conversations.ts';
import type { ChatResponse, UserMessage } from '../../shared/wire/documents.ts';
import { renderDocument } from './markdown-documents.ts';
import { escapeInline, quote } from './markdown-text.ts';

type ExportedConversation = ConversationExport['conversation'];

/** The page, part by part, of successive `views`. What people and models wrote is Markdown, all else literal. */
export async function* markdownOf(
  views: AsyncIterable<ExportedConversation>,
): AsyncGenerator<string> {
  let isBegun = false;
  for await (const view of views) {
    if (!isBegun) yield renderHead(view);
    isBegun = true;
    const parts = renderExchanges(view);
    if (parts.length > 0) yield `\n${parts.join('\n\n')}\n`;
  }
}

function renderHead({ title, created }: ExportedConversation): string {
  return `# ${escapeInline(title)}\n\nBegun ${formatTime(created)}.\n`;
}

function renderExchanges({ messages, responses }: ExportedConversation): string[] {
  const byId = new Map(responses.map((response) => [response.id, response]));
  const steers = Map.groupBy(
    messages.filter((message) => message.steers),
    ({ responseId }) => responseId,
  );
  const asked = messages.filter((message) => !message.steers);
  return asked.flatMap((message) => {
    const { responseId } = message;
    const response = byId.get(responseId);
    const answer = response && renderResponse(response, steers.get(responseId) ?? []);
    return [...renderMessage(message), ...(answer ?? [])];
  });
}

function renderMessage({ content, created, device, imageCount, cancelled }: UserMessage): string[] {
  const from = device === undefined ? '' : `, from ${escapeInline(device)}`;
  const images = imageCount === undefined ? [] : [`*With ${count(imageCount, 'image')}.*`];
  const end = cancelled ? ['*Withdrawn before it was answered.*'] : [];
  return [`## You (${formatTime(created)}${from})`, quote(content), ...images, ...end];
}

/** Places each steering message where the model received it, or at the end if the model never received it. */
function renderResponse(
  { model, mode, ownMode = mode, created, status, documents }: ChatResponse,
  steers: readonly UserMessage[],
): string[] {
  const bounds = [...documents.map(({ sequence }) => sequence), Number.POSITIVE_INFINITY];
  const saidBetween = (from: number, until = Number.POSITIVE_INFINITY) =>
    steers
      .filter(
        ({ afterSequence = Number.MAX_VALUE }) => from <= afterSequence && afterSequence < until,
      )
      .flatMap(renderMessage);
  const head = `## Answer (${formatTime(created)}, ${escapeInline(model)}, ${escapeInline(ownMode)} mode)`;
  const shown = [
    ...saidBetween(0, bounds[0]),
    ...documents.flatMap((document, index) => [
      renderDocument(document),
      ...saidBetween(document.sequence, bounds[index + 1]),
    ]),
  ].filter((text) => text !== '');
  return [head, ...shown, ...(status === 'completed' ? [] : [`*${STATUS[status]}*`])];
}

const STATUS: Readonly<Record<Exclude<ChatResponse['status'], 'completed'>, string>> = {
  queued: 'Waits for its turn.',
  streaming: 'Unfinished when this was exported.',
  waiting: 'Waits for a person.',
  error: 'Failed.',
  cancelled: 'Cancelled.',
};

/** `2026-11-20 12:00 UTC`. Text that is not a time stays as it is. */
function formatTime(iso: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(iso) ?? [];
  return day ? `${day} ${time} UTC` : iso;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
