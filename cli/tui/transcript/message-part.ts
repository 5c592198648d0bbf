/** What a person said, how an answer ended, and what the terminal itself says. */
import { wrapTextWithAnsi } from '@earendil-works/pi-tui';
import type { ChatResponse, ConversationView } from '../../../client/index.ts';
import { printable } from '../../../shared/text/plain-sight.ts';
import { isOver } from '../../../shared/wire/fold.ts';
import { effortOf } from '../../render/run.ts';
import { Cached } from './cached.ts';
import type { Look } from './look.ts';
import type { Part } from './part.ts';

/** A message, with a mark before each of its lines. */
export function messagePart(
  { content, imageCount, device }: ConversationView['messages'][number],
  { paint }: Look,
): Part {
  const images = imageCount === undefined ? '' : ` (+${imageCount} images)`;
  const from = device === undefined ? '' : paint('dim', `  ${printable(device)}`);
  return new Cached((width) => {
    const lines = wrapTextWithAnsi(`${printable(content)}${images}`, Math.max(1, width - 2));
    return ['', ...lines.map((line) => `${paint('cyan', '❯')} ${paint('bold', line)}`), from];
  });
}

/** The last line of an answer: how it ended and what it took. Nothing while it runs. */
export function responseEnd(response: ChatResponse, { paint }: Look): Part {
  return new Cached(() => {
    const { status, usage, metadata } = response;
    if (!isOver(status)) return [];
    const ended = { cancelled: 'Cancelled. ', error: 'Ended in an error. ' }[String(status)] ?? '';
    return ['', paint('dim', `${ended}${effortOf({ usage, metadata })}`)];
  });
}

/** Words of the terminal itself. */
export function noticePart(words: string, { paint }: Look): Part {
  return new Cached((width) => [
    '',
    ...wrapTextWithAnsi(printable(words), width).map((line) => paint('dim', line)),
  ]);
}
