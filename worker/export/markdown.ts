/** A conversation as one Markdown page, for people to read and keep. Pure. */
import type { ChatResponse, ConversationView, UserMessage } from '../../shared/documents.ts';
import { renderDocument } from './markdown-documents.ts';
import { escapeInline, quote } from './markdown-text.ts';

/** Ends with a newline. What a person or the model wrote is Markdown and stands as it is; all other text is shown literally. */
export function renderMarkdown(conversation: ConversationView): string {
  const { title, created, messages, responses } = conversation;
  const byId = new Map(responses.map((response) => [response.id, response]));
  const asked = messages.filter(({ steers }) => !steers);
  const parts = asked.flatMap((message) => {
    const response = byId.get(message.responseId);
    const steers = messages.filter((other) => other.steers && isOf(other, message.responseId));
    return [...renderMessage(message), ...(response ? renderResponse(response, steers) : [])];
  });
  return `${[`# ${escapeInline(title)}`, `Begun ${formatTime(created)}.`, ...parts].join('\n\n')}\n`;
}

function isOf(message: UserMessage, responseId: string): boolean {
  return message.responseId === responseId;
}

function renderMessage({ content, created, device, imageCount }: UserMessage): string[] {
  const from = device === undefined ? '' : `, from ${escapeInline(device)}`;
  const images = imageCount === undefined ? [] : [`*With ${count(imageCount, 'image')}.*`];
  return [`## You (${formatTime(created)}${from})`, quote(content), ...images];
}

/** What steered the response stands where the model learned of it; what it never learned, at its end. */
function renderResponse(
  { model, mode, created, status, documents }: ChatResponse,
  steers: readonly UserMessage[],
): string[] {
  const bounds = [...documents.map(({ sequence }) => sequence), Number.POSITIVE_INFINITY];
  const saidBetween = (from: number, until = Number.POSITIVE_INFINITY) =>
    steers
      .filter(
        ({ afterSequence = Number.MAX_VALUE }) => from <= afterSequence && afterSequence < until,
      )
      .flatMap(renderMessage);
  const head = `## Answer (${formatTime(created)}, ${escapeInline(model)}, ${mode} mode)`;
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
  streaming: 'At work when this was exported.',
  waiting: 'Waits for a person.',
  error: 'Failed.',
  cancelled: 'Cancelled.',
};

/** `2026-11-20 12:00 UTC`; what is no time stands as it is. */
function formatTime(iso: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(iso) ?? [];
  return day ? `${day} ${time} UTC` : iso;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
