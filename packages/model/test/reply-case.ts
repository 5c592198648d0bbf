/** A table of replies: what a server sends, and what is to be made of it, whatever way it is cut. */

import { expectEqual } from '../../../test/expect-equal.ts';
import type { AnswerReader } from '../dialects/dialect.ts';
import { type ReplyPart, ReplyReader, type UpstreamReply } from '../reader.ts';
import { splitsOf } from './splits.ts';

/** Title -> what the server sends, and what the reply is beside {@link PLAIN}. */
export type ReplyCase = readonly [string, string, Partial<UpstreamReply>];

const PLAIN: UpstreamReply = {
  outcome: 'completed',
  finishReason: 'stop',
  text: '',
  reasoning: null,
  calls: [],
  usage: null,
  error: null,
};

/** Checks the reply at every split of the body; the parts, put together, have to be the reply. */
export function expectReply(
  body: string,
  expected: Partial<UpstreamReply>,
  newReader?: () => AnswerReader,
  splits = splitsOf<Uint8Array>,
): void {
  const whole = { ...PLAIN, ...expected };
  for (const pieces of splits(new TextEncoder().encode(body))) {
    const { parts, reply } = read(pieces, newReader?.());
    expectEqual(reply, whole);
    expectSame(parts, reply);
  }
}

function read(
  pieces: readonly Uint8Array[],
  dialect: AnswerReader | undefined,
): { parts: ReplyPart[]; reply: UpstreamReply } {
  let made = 0;
  const newId = () => `generated${++made}`;
  const reader = new ReplyReader({ newId, ...(dialect && { reader: dialect, thinkTags: false }) });
  const parts = pieces.flatMap((bytes) => reader.push(bytes));
  const end = reader.end();
  return { parts: [...parts, ...end.parts], reply: end.reply };
}

function expectSame(parts: readonly ReplyPart[], reply: UpstreamReply): void {
  const joined = (type: 'text' | 'reasoning') =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  expectEqual([joined('text'), joined('reasoning')], [reply.text, reply.reasoning ?? '']);
  for (const [index, { name, rawArguments }] of reply.calls.entries()) {
    const pieces = parts.filter((part) => part.type === 'call' && part.call === index);
    const names = pieces.flatMap((part) => (part.type === 'call' ? (part.name ?? []) : []));
    const raw = pieces.map((part) => (part.type === 'call' ? part.arguments : '')).join('');
    expectEqual([names, raw], [name === 'unnamed_tool' ? [] : [name], rawArguments]);
  }
}
