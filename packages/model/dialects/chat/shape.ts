/** Which messages may stand side by side: chat templates of models refuse a request for one that they do not expect. */

import type { ServerTarget } from '../../models.ts';
import type { UpstreamMessage } from '../../request.ts';

/**
 * The messages as every known template takes them: nobody speaks twice in a row, and no message is empty. For templates
 * that demand turns, the user begins and speaks only behind an answer.
 */
export function inTurns(
  messages: readonly UpstreamMessage[],
  { upstreamId, switches: { roles } }: Pick<ServerTarget, 'upstreamId' | 'switches'>,
): readonly UpstreamMessage[] {
  const isStrict = roles === 'alternating' || ALTERNATING.test(upstreamId);
  const shaped: UpstreamMessage[] = [];
  for (const message of messages) {
    const said = withText(message);
    if (!said) continue;
    const last = shaped.at(-1);
    const joined = last && joinedWith(last, said);
    if (joined) shaped[shaped.length - 1] = joined;
    else if (!isStrict) shaped.push(said);
    else shaped.push(...between(last, said), said);
  }
  return shaped;
}

/** Mistral's templates take no user behind a tool, Gemma's no answer at the beginning. */
const ALTERNATING = /mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral|gemma/i;

/** What a template with turns wants before the message. */
function between(last: UpstreamMessage | undefined, { role }: UpstreamMessage): UpstreamMessage[] {
  if (role === 'user' && last?.role === 'tool') return [{ role: 'assistant', content: HEARD }];
  const isFirst = last === undefined || last.role === 'system' || last.role === 'developer';
  return role === 'assistant' && isFirst ? [{ role: 'user', content: BEGINNING }] : [];
}

const HEARD = 'I have read the results.';
const BEGINNING = '(no message)';
const NO_OUTPUT = '(no output)';

/** Null for an answer without anything. */
function withText(message: UpstreamMessage): UpstreamMessage | null {
  const isEmpty = isBlank(message.content);
  switch (message.role) {
    case 'assistant':
      if (!isEmpty) return message;
      return message.tool_calls?.length ? message : null;
    case 'tool':
      return isEmpty ? { ...message, content: NO_OUTPUT } : message;
    case 'user':
      return isEmpty ? { ...message, content: BEGINNING } : message;
    default:
      return message;
  }
}

function isBlank(content: UpstreamMessage['content']): boolean {
  if (typeof content === 'string') return content.trim() === '';
  return (content ?? []).every((part) => part.type === 'text' && part.text.trim() === '');
}

/** One message of two by the same speaker; undefined where they stay two. */
function joinedWith(first: UpstreamMessage, second: UpstreamMessage): UpstreamMessage | undefined {
  if (first.role === 'user' && second.role === 'user') {
    if (typeof first.content === 'string' && typeof second.content === 'string')
      return { ...first, content: `${first.content}\n\n${second.content}` };
    return { ...first, content: [...partsOf(first.content), ...partsOf(second.content)] };
  }
  if (first.role !== 'assistant' || second.role !== 'assistant' || first.tool_calls) return;
  const texts = [first.content, second.content].filter((text) => typeof text === 'string');
  const content = texts.filter((text) => text !== '').join('\n\n');
  const thoughts = [first.reasoning, second.reasoning].filter(Boolean).join('\n\n');
  return { ...first, ...second, content, ...(thoughts !== '' && { reasoning: thoughts }) };
}

type UserContent = Extract<UpstreamMessage, { role: 'user' }>['content'];

/** The content as a list of parts. */
export function partsOf(content: UserContent): Exclude<UserContent, string> {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
