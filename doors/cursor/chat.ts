/** The Worker's services for Cursor's own interface (doors/cursor/connect/). */
import { waitUntil } from 'cloudflare:workers';
import type { Context } from 'hono';
import { listModels } from '../../packages/model/index.ts';
import { chats } from '../../shared/settings/models.ts';
import {
  type AppContext,
  attachFirst,
  cancelRun,
  countRun,
  logEvent,
  parse,
  readBytes,
  SseWriter,
  type Submitted,
  senderOf,
  submitMessage,
  takeBody,
} from '../../worker/door.ts';
import { CompletionRequest, toChatRequest } from '../openai/request.ts';
import { WordStream } from '../words/word-stream.ts';
import type { ChatCore, Form } from './connect/core.ts';

export function chatCoreOf(c: Context<AppContext>): ChatCore<Submitted> {
  return {
    models: () =>
      listModels(c.env)
        .items.filter(({ roles }) => !roles || chats({ roles }))
        .map(({ id }) => id),
    readBytes: (source) =>
      takeBody(
        c,
        (turn) => readBytes(source, undefined, turn),
        (bytes) => bytes,
      ),
    async begin(completion, conversationId) {
      await countRun(c);
      const whole = toChatRequest(parse(CompletionRequest, completion));
      const request =
        conversationId === undefined
          ? whole
          : { ...whole, conversationId, messages: whole.messages.slice(-1) };
      const ephemeral = conversationId === undefined;
      return await submitMessage(c.env, { ...senderOf(c), request, ephemeral, unasking: true });
    },
    stream(begun, form) {
      const writer = new SseWriter(form.encode);
      waitUntil(follow(c, begun, writer, form));
      return writer.readable;
    },
  };
}

/** Never throws. */
async function follow(
  { env, req, var: { trace } }: Context<AppContext>,
  begun: Submitted,
  writer: SseWriter,
  { open, timeout }: Form,
): Promise<void> {
  const stream = new WordStream(
    writer,
    open((text) => writer.write(text)),
  );
  const timer = timeout && setTimeout(() => stream.end(timeout.ending), timeout.ms);
  const attaching = attachFirst(env, begun, 'json', 0, stream.life.signal);
  try {
    const giveUp = () => cancelRun(env, begun);
    await stream.follow(env, begun, attaching, { signal: req.raw.signal, giveUp });
  } catch (error) {
    logEvent('follow_failed', { trace, run: begun.responseId, error });
  } finally {
    clearTimeout(timer ?? undefined);
  }
}
