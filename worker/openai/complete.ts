/** Answers Chat Completions. */
import type { Context } from 'hono';
import { renderWords } from '../../shared/shown/markdown.ts';
import { SECOND } from '../../shared/units.ts';
import type { AppContext } from '../account/caller.ts';
import type { Submitted } from '../desk/submit.ts';
import { resolveModel } from '../upstream/models.ts';

import { answer } from './answering.ts';
import { type CompletionHead, newCompletion } from './completion.ts';
import { CompletionRequest, ignoredIn, toChatRequest } from './request.ts';
import { CompletionWire } from './stream.ts';

/** Answers with a `chat.completion`, with its chunks, or with an error. */
export async function complete(
  c: Context<AppContext>,
  request: CompletionRequest,
): Promise<Response> {
  const requested = resolveModel(request.model, c.env);
  return await answer(c, {
    request: toChatRequest(request),
    isKept: request.store === true,
    isStreamed: request.stream === true,
    ignored: ignoredIn(request, CompletionRequest),
    shape: (submitted) => {
      const head = newHead(submitted, requested);
      return {
        whole: ({ documents, model, usage }, reason) =>
          newCompletion({ ...head, model }, renderWords(documents), reason, usage),
        wire: () => new CompletionWire(head, request.stream_options?.include_usage === true),
      };
    },
  });
}

function newHead({ responseId }: Submitted, model: string): CompletionHead {
  const created = Math.floor(Date.now() / SECOND);
  return { id: `chatcmpl-${responseId.slice('chat_'.length)}`, created, model };
}
