/** What a person said, how an answer ended, and what the terminal itself says. */
import type { Component } from '@earendil-works/pi-tui';
import type { ChatResponse, ConversationView } from '../../../client/index.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import { effortOf, notAttached } from '../../render/run.ts';
import { Cached } from './cached.ts';
import { INDENT, wrapped } from './lines.ts';
import type { Look } from './look.ts';

/** A message, with a mark before its first line. */
export function messagePart(
  message: ConversationView['messages'][number],
  { paint, device }: Look,
): Component {
  return new Cached((width) => {
    const { content, imageCount = 0 } = message;
    const notes = [
      ...(imageCount > 0 ? [`${imageCount} image${imageCount === 1 ? '' : 's'}`] : []),
      ...(message.device === undefined || message.device === device ? [] : [message.device]),
    ];
    const room = width - INDENT.length;
    const mark = paint('cyan', '❯ ');
    return [
      '',
      ...wrapped(content, room).map(
        (line, at) => `${at === 0 ? mark : INDENT}${paint('bold', line)}`,
      ),
      ...wrapped(notes.join(', '), room)
        .filter((line) => line !== '')
        .map((line) => `${INDENT}${paint('dim', line)}`),
    ];
  });
}

/** What a response's messages named and the model did not get: mentions that lead to nothing, and tools. */
export function missingPart({ metadata }: ChatResponse, { paint }: Look): Component {
  return new Cached((width) => {
    const { attachments = [], unavailableTools = [] } = metadata;
    const tools = unavailableTools.map(({ name, reason }) => `Not available: ${name}. ${reason}`);
    return [...notAttached(attachments), ...tools].flatMap((words) =>
      wrapped(words, width - INDENT.length).map((line) => `${INDENT}${paint('yellow', line)}`),
    );
  });
}

/** The last line of an answer: how it ended and what it took. Nothing while it runs. */
export function responseEnd(response: ChatResponse, { paint }: Look): Component {
  return new Cached((width) => {
    const { status, usage, metadata } = response;
    if (!isOver(status)) return [];
    const effort = wrapped(effortOf({ usage, metadata }), width).map((line) => paint('dim', line));
    return ['', ...(ENDINGS[status]?.(paint) ?? []), ...effort];
  });
}

const ENDINGS: Readonly<Record<string, (paint: Look['paint']) => string[]>> = {
  cancelled: (paint) => [paint('yellow', 'Cancelled.')],
  error: (paint) => [paint('red', 'Ended in an error.')],
};

/** Words of the terminal itself. */
export function noticePart(words: string, { paint }: Look): Component {
  return new Cached((width) => ['', ...wrapped(words, width).map((line) => paint('dim', line))]);
}
