/** An OpenAI-compatible server that answers as messages ask (asked.ts), in its own process. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { serveUpstream } from '../upstream-server.ts';
import { askedIn, endOf, TOKEN_CHARS } from './asked.ts';
import { markdownOf } from './markdown.ts';

const Request = z.object({
  messages: z.array(z.unknown()),
  /** Absent where a title or a summary is wanted. */
  tools: z.array(z.unknown()).optional(),
});

serveUpstream(async (body, response) => {
  const { messages, tools } = Request.parse(body);
  const asked = tools && askedIn(JSON.stringify(messages));
  if (!asked) write(response, 'The reader of frames');
  else if (asked.tokensPerSecond === 0) write(response, markdownOf(asked.chars, endOf(asked)));
  else await pace(response, markdownOf(asked.chars, endOf(asked)), asked.tokensPerSecond);
  response.end(END);
});

/** Sends each token by itself, at its time from the start. */
async function pace(response: ServerResponse, text: string, perSecond: number): Promise<void> {
  const startMs = performance.now();
  for (let at = 0; at < text.length && !response.destroyed; ) {
    const due = Math.ceil(((performance.now() - startMs) / 1_000) * perSecond) * TOKEN_CHARS;
    for (; at < Math.min(due, text.length); at += TOKEN_CHARS)
      write(response, text.slice(at, at + TOKEN_CHARS));
    await sleep(1);
  }
}

function write(response: ServerResponse, content: string): void {
  response.write(`data: ${chunk([{ index: 0, delta: { content }, finish_reason: null }])}\n\n`);
}

function chunk(choices: readonly object[], usage?: object): string {
  const id = 'chatcmpl-1';
  return JSON.stringify({
    id,
    object: 'chat.completion.chunk',
    created: 1,
    model: 'scripted',
    choices,
    ...(usage && { usage }),
  });
}

const END = [
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }),
  '[DONE]',
]
  .map((data) => `data: ${data}\n\n`)
  .join('');
