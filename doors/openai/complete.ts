/** Answers Chat Completions. */
import type { Context } from 'hono';
import { resolveModel } from '../../packages/model/index.ts';
import { SECOND } from '../../shared/units.ts';
import type { AnswerPlace, AppContext } from '../../worker/door.ts';
import { answer, askedBy, nameOf, toSending } from './answering.ts';
import { type CompletionHead, newCompletion } from './completion.ts';
import { CompletionRequest, ignoredIn, toChatRequest } from './request.ts';
import { CompletionWire } from './stream.ts';

/** Answers with a `chat.completion`, with its chunks, or with an error. */
export async function complete(
  c: Context<AppContext>,
  request: CompletionRequest,
): Promise<Response> {
  const requested = resolveModel(request.model, c.env);
  const { messages: asks } = request;
  const output = request.response_format ?? undefined;
  return await answer(c, {
    ...askedBy(asks, () => toSending(request, toChatRequest(request), output)),
    isKept: request.store === true,
    isStreamed: request.stream === true,
    ignored: ignoredIn(request, CompletionRequest),
    hosted: request.tools?.hosted ?? [],
    shape: (place) => {
      const head = newHead(place, requested);
      return {
        whole: ({ words, calls, model, usage }, reason) =>
          newCompletion({ ...head, model }, { ...words, calls }, reason, usage),
        wire: () =>
          new CompletionWire(head, request.stream_options?.include_usage === true, output),
      };
    },
  });
}

function newHead(place: AnswerPlace, model: string): CompletionHead {
  return { id: `chatcmpl-${nameOf(place)}`, created: Math.floor(Date.now() / SECOND), model };
}
